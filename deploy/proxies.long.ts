// Three processes behind each of nginx.conf, haproxy.cfg and varnish.vcl, from a bad release to its roll-back.
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";
import { type RunningServer, startServer } from "react-router-express-server/testing";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type ProxyName, type RunningProxy, startProxy, toUpstream } from "./start-proxy.ts";

const CLIENTS = 8;
const MIN_REQUESTS = 400;
/** As haproxy.cfg says. */
const SETTINGS = { SHUTDOWN_DELAY_MS: "3000" };
/** Nothing caches the first, and each proxy may cache the second. */
const EXPECTED: Record<string, number[]> = { "/nowhere": [404], "/": [200] };
/** A process of another release alone has it. */
const SCRIPT = "/assets/added-12345678.js";

describe.each<ProxyName>(["nginx", "HAProxy", "Varnish"])("behind %s", (name) => {
  let servers: [RunningServer, RunningServer, RunningServer];
  let proxy: RunningProxy;
  let folder: string;

  beforeAll(async () => {
    // A process of another release, with a script that the others lack.
    folder = `${inject("examplesFolder")}/other-release`;
    cpSync(`${inject("examplesFolder")}/build`, `${folder}/build`, { recursive: true });
    writeFileSync(`${folder}/build/client${SCRIPT}`, "release = 'other';");
    const start = (from: string) => startServer(SETTINGS, from);
    servers = await Promise.all([
      start(inject("examplesFolder")),
      start(inject("examplesFolder")),
      start(folder),
    ] as const);
    proxy = await startProxy(name, servers.map(toUpstream));
  });

  afterAll(async () => {
    await proxy?.stop();
    for (const { child } of servers ?? []) child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });

  /** Sends requests until enough have ended after `change`. Resolves with the number of each outcome. */
  const load = async (change: () => void, isEnough = () => true, expected = EXPECTED) => {
    const targets = Object.entries(expected);
    const outcomes: Record<string, number> = {};
    let ended = 0;
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let i = client; !isOver; i += 1) {
        const [path, statuses] = targets[i % targets.length] as [string, number[]];
        // No proxy has cached the script with this query.
        const outcome = await proxy.send(path === SCRIPT ? `${path}?${client}-${i}` : path).then(
          ({ status }) => (statuses.includes(status) ? "as expected" : `${path}: ${status}`),
          (error) => `${path}: ${error.code}`,
        );
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        ended += 1;
      }
    });
    change();
    const before = ended;
    await expect.poll(() => ended - before > MIN_REQUESTS && isEnough(), { timeout: 120_000 }).toBe(true);
    isOver = true;
    await Promise.all(clients);
    return outcomes;
  };

  const requestAsset = async (path: string) => {
    const responses = [];
    for (let i = 0; i < 9; i += 1) responses.push(await proxy.send(`${path}?${i}`));
    return new Set(responses.map(({ status }) => status));
  };

  test("pages and forms work, with the client's address", async () => {
    const page = await proxy.send("/", { headers: { "Accept-Encoding": "gzip, br" } });
    expect(page).toMatchObject({ status: 200, headers: { "content-encoding": "br" } });
    const headers = { "Content-Type": "application/x-www-form-urlencoded", Origin: proxy.origin };
    const options = { method: "POST", headers };
    expect((await proxy.send("/example-pages/form", options, "name=Ada")).status).toBe(200);
    headers.Origin = "https://example.com";
    expect((await proxy.send("/example-pages/form", options, "name=Ada")).status).toBe(403);
    await proxy.send("/no-such-page", { localAddress: "127.0.0.2", family: 4 });
    const findLine = () => servers.flatMap(({ lines }) => lines).find((line) => line["url.path"] === "/no-such-page");
    await expect.poll(findLine).toMatchObject({ "client.address": "127.0.0.2" });
    if (name === "Varnish") return;
    const redirect = await fetch(`${proxy.plainUrl}/a?b`, { redirect: "manual" });
    expect([redirect.status, redirect.headers.get("Location")]).toEqual([
      308,
      expect.stringMatching(/^https:.*\/a\?b/),
    ]);
  });

  test("a script of one process alone is found, and one of none is missing", async () => {
    expect(await requestAsset(SCRIPT)).toEqual(new Set([200]));
    expect(await requestAsset("/assets/none-12345678.js")).toEqual(new Set([404]));
  });

  test.runIf(name === "Varnish")("pages are cached for what the app's Age leaves, until they are purged", async () => {
    const isHit = async () => (await proxy.send("/example-pages/about")).headers["x-varnish"]?.includes(" ");
    const purge = (localAddress: string) =>
      proxy.send("/example-pages/about", { method: "PURGE", localAddress, family: 4 });
    const ageOf = async () => Number((await proxy.send("/example-pages/about")).headers.age);
    // Rendered at the start, so that the app's copy is older than Varnish's.
    const direct = Number((await fetch(`${servers[0].url}/example-pages/about`)).headers.get("Age"));
    expect(await ageOf()).toBeGreaterThanOrEqual(direct);
    expect([await isHit(), await isHit()]).toEqual([expect.anything(), true]);
    expect((await purge("127.0.0.2")).status).toBe(405);
    expect(await isHit()).toBe(true);
    expect((await purge("127.0.0.1")).status).toBe(200);
    expect(await isHit()).toBe(false);
  });

  test("a process that freezes makes at most 1 % of the requests fail", async () => {
    const [frozen] = servers;
    const outcomes = await load(() => frozen.child.kill("SIGSTOP"));
    frozen.child.kill("SIGCONT");
    const { "as expected": succeeded = 0, ...failed } = outcomes;
    const count = Object.values(failed).reduce((sum, number) => sum + number, 0);
    expect(count, JSON.stringify(outcomes)).toBeLessThanOrEqual(succeeded / 100);
  });

  test("a process that is killed makes no request fail, and no script a 502", async () => {
    const outcomes = await load(() => servers[0].child.kill("SIGKILL"));
    expect(outcomes).toEqual({ "as expected": expect.any(Number) });
    expect(await requestAsset("/assets/none-12345678.js")).toEqual(new Set([404]));
    expect(await requestAsset(SCRIPT)).toEqual(new Set([200]));
  });

  test("a roll-back, one process after the other, makes no request fail, and no script a 502", async () => {
    const exitCodes: (number | null)[] = [];
    let isOver = false;
    const replaceAll = async () => {
      for (const [index, { url, opsUrl, stop }] of servers.entries()) {
        // The first has been killed, and the third is of the bad release.
        if (index > 0) exitCodes.push(await stop());
        const ports = { PORT: new URL(url).port, OPS_PORT: new URL(opsUrl).port };
        servers[index] = await startServer({ ...SETTINGS, ...ports }, inject("examplesFolder"));
      }
      isOver = true;
    };
    const start = () => void replaceAll();
    const outcomes = await load(start, () => isOver, { ...EXPECTED, [SCRIPT]: [200, 404] });
    expect([exitCodes, outcomes]).toEqual([[0, 0], { "as expected": expect.any(Number) }]);
  });
});

test.each<ProxyName>(["nginx", "HAProxy", "Varnish"])("%s passes events at once, and WebSockets", async (name) => {
  const server = createServer((req, res) => {
    if (req.url !== "/events") return res.end();
    res.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" }).write("data: first\n\n");
  });
  server.on("upgrade", (_req, socket) => {
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
    );
    socket.on("data", (data) => socket.write(`echo ${data}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const port = String((server.address() as AddressInfo).port);
  const proxy = await startProxy(name, Array(3).fill({ port, opsPort: port }));
  onTestFinished(async () => {
    await proxy.stop();
    server.closeAllConnections();
    server.close();
  });
  const exchange = async (head: string, awaited: string, then = "") => {
    const { hostname: host, port, protocol } = new URL(proxy.origin);
    const options = { host, port: Number(port), ca: proxy.cert, checkServerIdentity: () => undefined };
    const socket = protocol === "https:" ? connectTls(options) : connectPlain(options);
    let received = "";
    socket.on("data", (data) => (received += data));
    socket.write(`${head}\r\nHost: x\r\n\r\n`);
    await expect.poll(() => received).toContain(awaited);
    if (then) {
      socket.write(then);
      await expect.poll(() => received).toContain(`echo ${then}`);
    }
    socket.destroy();
  };
  await exchange("GET /events HTTP/1.1", "data: first");
  // The key of RFC 6455's example.
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const upgrade = `GET /socket HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}`;
  await exchange(upgrade, "HTTP/1.1 101", "hello");
});
