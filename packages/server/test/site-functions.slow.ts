// Functions of a site that fail. Those of requests don't end the process; those of the startup fail it with their name.
import { expect, onTestFinished, test } from "vitest";
import { exchange } from "./support/exchange.ts";
import { readMetric } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";
import { spawnServer, startServer } from "./support/start-server.ts";

/** Replaces functions of the site's definition before the server starts. */
function withDefinition(code: string) {
  const site = JSON.stringify(new URL(`file://${SITE}/build/server/site.js`));
  const module = `
    import { site } from ${site};
    const { definition } = site;
    const fail = () => { throw new Error("broken") };
    const reject = async () => fail();
    const open = (services) => { definition.openServices = () => services };
    ${code}`;
  return [process.execPath, "--import", `data:text/javascript,${encodeURIComponent(module)}`] as const;
}

const HANDSHAKE = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
const PAGE = "GET /example-pages/sign-up HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const CACHED = PAGE.replace("sign-up", "about");

async function startWith(code: string, env = {}) {
  const server = await startServer({ LOG_LEVEL: "info", ...env }, SITE, withDefinition(code));
  onTestFinished(async () => void (await server.stop()));
  return server;
}

test.for([
  ["upgrade throws", "open({ upgrade: fail })", HANDSHAKE, 400, "upgrade failed"],
  ["upgrade rejects", "open({ upgrade: reject })", HANDSHAKE, 400, "upgrade failed"],
  [
    "upgrade fails after its response",
    `open({ upgrade(_req, socket) { socket.write(${JSON.stringify(SWITCH)}); fail(); } })`,
    HANDSHAKE,
    101,
    "upgrade failed",
  ],
  ["setContext throws", "open({ setContext: fail })", PAGE, 500, "request failed"],
  ["setContext throws for a cached page", "open({ setContext: fail })", CACHED, 503, "page not rendered"],
  ["setContext rejects", "open({ setContext: reject })", PAGE, 200, "render failed"],
  [
    "getLoadContext throws",
    "const { createApp } = definition; definition.createApp = (parts) => createApp({ ...parts, getLoadContext: fail })",
    PAGE,
    500,
    "request failed",
  ],
] as const)("if %s, the log has it, and the server goes on", async ([, code, bytes, status, msg]) => {
  const server = await startWith(code);
  const { responses, isClosed } = await exchange(server.url, bytes);
  expect([responses.map((response) => response.status), isClosed]).toEqual([[status], true]);
  await expect.poll(() => server.lines.find((line) => line.msg === msg)).toMatchObject({ level: "error" });
  expect((await fetch(`${server.url}/robots.txt`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
});

test.for([
  ["openServices throws", "definition.openServices = fail", "openServices failed: broken"],
  ["openServices rejects", "definition.openServices = reject", "openServices failed: broken"],
  [
    "a cache channel can't be connected",
    "definition.openServices = ({ cache }) => cache.connect({ subscribe: fail })",
    "openServices failed: broken",
  ],
  ["createApp throws", "definition.createApp = fail", "createApp failed: broken"],
  ["createApp returns nothing", "definition.createApp = () => {}", "createApp failed"],
] as const)("if %s, the server exits, and its log names the fault", async ([, code, message]) => {
  const server = spawnServer({}, SITE, withDefinition(code));
  expect(await server.exited).toBe(1);
  const faults = server.lines.filter(({ level }) => level === "fatal").map((line) => line["exception.message"]);
  expect(faults).toEqual([expect.stringContaining(message)]);
});

test.for([
  ["checkReadiness throws", "open({ checkReadiness: fail })", "services not ready", 0],
  ["checkReadiness rejects", "open({ checkReadiness: reject })", "services not ready", 0],
  ["close throws", "open({ close: fail })", "services not closed", 1],
  ["close rejects", "open({ close: reject })", "services not closed", 1],
  [
    "a channel's subscribe rejects",
    "definition.openServices = ({ cache }) => cache.connect({ subscribe: reject })",
    "cache channel not subscribed",
    0,
  ],
  [
    "a channel's publish throws",
    "definition.openServices = ({ cache }) => { cache.connect({ subscribe() {}, publish: fail }); cache.invalidate(['a']) }",
    "cache invalidation not published",
    0,
  ],
  [
    "a channel's publish rejects",
    "definition.openServices = ({ cache }) => { cache.connect({ subscribe() {}, publish: reject }); cache.invalidate(['a']) }",
    "cache invalidation not published",
    0,
  ],
  [
    "a channel sends what isn't a message",
    "definition.openServices = ({ cache }) => cache.connect({ subscribe: (onMessage) => { for (const text of [undefined, '{', '[]', Buffer.from('x')]) onMessage(text) } })",
    "cache channel: message not understood",
    0,
  ],
] as const)("if %s, the log has it", async ([, code, msg, exitCode]) => {
  const server = await startWith(code);
  const isLogged = () => server.lines.some((line) => line.msg === msg);
  if (exitCode === 0) await expect.poll(isLogged).toBe(true);
  expect((await fetch(`${server.url}/robots.txt`)).status).toBe(200);
  expect(await server.stop()).toBe(exitCode);
  expect(isLogged()).toBe(true);
});

test.for([
  ["", {}, 200, "ready"],
  ['readiness: "services",', {}, 503, "not ready"],
  ['readiness: "services",', { READINESS: "process" }, 200, "ready"],
  ["", { READINESS: "services" }, 503, "not ready"],
] as const)("if a service with %j fails later, with %j, /readyz returns %i", async ([readiness, env, status, text]) => {
  const code = `let checks = 0; open({ ${readiness} checkReadiness: () => checks++ ? reject() : Promise.resolve() })`;
  const server = await startWith(code, env);
  const probe = async () => {
    const response = await fetch(`${server.opsUrl}/readyz`);
    return [response.status, await response.text()];
  };
  expect(await probe()).toEqual([200, "ready\n"]);
  await expect.poll(probe).toEqual([status, `${text} (services not ready: broken)\n`]);
  expect(await readMetric(server, "services_ready")).toBe(0);
  expect(await readMetric(server, "app_ready")).toBe(status === 200 ? 1 : 0);
  await expect.poll(() => server.lines.filter(({ msg }) => msg === "services not ready")).toHaveLength(1);
  expect((await fetch(`${server.url}/example-pages/about`)).status).toBe(200);
});

test("if a job rejects, the log has it, and the server shuts down and exits with 1", async () => {
  const server = spawnServer({}, SITE, withDefinition("definition.openServices = () => void setTimeout(reject)"));
  expect(await server.exited).toBe(1);
  expect(server.lines).toContainEqual(expect.objectContaining({ level: "fatal", origin: "unhandledRejection" }));
});

test.for([
  ["writes", "writes-late", "write after end"],
  ["throws", "throws-late", "broken after the response"],
])(
  "if a handler %s after its response, the log has one line with its route, and the server goes on",
  async ([, path, message]) => {
    const server = await startWith("");
    expect(await (await fetch(`${server.url}/front/api/${path}`)).text()).toBe("done");
    expect((await fetch(server.url)).status).toBe(200);
    const errors = () => server.lines.filter(({ level }) => level === "error");
    await expect.poll(errors).toMatchObject([{ "exception.message": message, "http.route": `/front/api/${path}` }]);
    expect(await server.stop()).toBe(0);
  },
);
