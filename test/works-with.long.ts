// The packages of docs/works-with.md, all in one copy of the project, with one build.
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { createTest, open, startServer } from "react-router-express-server/testing";
import { afterAll, test as base, beforeAll, expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { build, copyProject } from "./support/copy-project.ts";
import { run } from "./support/packed-engine.ts";
import { withoutSpace } from "./support/samples.ts";
import { startServices } from "./support/start-services.ts";

const FIXTURE = "test/fixtures/works-with";

/** Of the list: the packages with their versions, the file, and the line. */
const ENTRY = /^- (.+) in `([^`]+)`: `([^`]+)`/gm;
const ROWS = Array.from(
  readFileSync("docs/works-with.md", "utf8").matchAll(ENTRY),
  ([, packages = "", file = "", line = ""]) => ({
    packages: [...packages.matchAll(/`([^`]+)@([^`@]+)`/g)].map(([, name = "", version = ""]) => [name, version]),
    file,
    line,
  }),
);

const FOLDER = copyProject({ withTests: true });
let services: Awaited<ReturnType<typeof startServices>>;

beforeAll(async () => {
  services = await startServices();
  rmSync(`${FOLDER}/node_modules`, { recursive: true });
  cpSync(FIXTURE, FOLDER, { recursive: true });
  // Here, knip would take the file for a test of the project.
  renameSync(`${FOLDER}/app/with/msw.ts`, `${FOLDER}/app/with/msw.test.ts`);
  const manifest = JSON.parse(readFileSync(`${FOLDER}/package.json`, "utf8"));
  for (const [name = "", version] of ROWS.flatMap(({ packages }) => packages)) {
    delete manifest.devDependencies[name];
    manifest.dependencies[name] = version;
  }
  manifest.devDependencies["@vercel/nft"] ??= "1.11.5";
  writeFileSync(`${FOLDER}/package.json`, JSON.stringify(manifest));
  run(FOLDER, "npm install --prefer-offline --ignore-scripts --legacy-peer-deps --no-audit --no-fund");
  await build(FOLDER);
}, 3_600_000);

afterAll(() => {
  services?.stop();
  rmSync(FOLDER, { recursive: true });
});

const test = createTest(FOLDER).extend("server", { scope: "file" }, async ({ browser: _ }, { onCleanup }) => {
  const server = await startServer(services.env, FOLDER);
  onCleanup(async () => void (await server.stop()));
  return server;
});

base.for(ROWS)("the line of $packages.0.0 is in $file", ({ file, line }) => {
  expect(withoutSpace(readFileSync(`${FIXTURE}/${file}`, "utf8"))).toContain(withoutSpace(line));
});

const FORM = new URLSearchParams({ username: "ada", password: "right" });
const upload = () => {
  const body = new FormData();
  body.set("file", new File(["12345"], "a.txt"));
  return { method: "POST", body };
};
const query = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"query":"{ hello }"}' };

test.for<[name: string, path: string, init: RequestInit, status: number, text: string]>([
  ["compression", "/with/compression", {}, 200, "aaaa"],
  ["cookie-parser", "/with/cookies", { headers: { Cookie: "a=1" } }, 200, '{"a":"1"}'],
  ["multer", "/with/upload", upload(), 200, '{"size":5}'],
  ["http-proxy-middleware", "/with/proxy/a", {}, 200, "from another service"],
  ["serve-static", "/with/static/robots.txt", {}, 200, "User-agent"],
  ["@sentry/node", "/with/sentry", {}, 200, '{"isSent":true}'],
  ["cookie-session", "/with/cookie-session", {}, 200, '{"visits":1}'],
  ["better-auth", "/with/better-auth/ok", {}, 200, '{"ok":true}'],
  ["graphql-yoga", "/with/yoga", query, 200, '{"data":{"hello":"Hello"}}'],
  ["@apollo/server", "/with/apollo", query, 200, '{"data":{"hello":"Hello"}}'],
  ["@trpc/server", "/with/trpc/hello", {}, 200, '"data":"Hello"'],
  ["@orpc/server", "/with/orpc/hello", { method: "POST" }, 200, '{"json":"Hello"}'],
  ["express-openapi-validator", "/with/openapi/items?limit=1", {}, 200, "[]"],
  ["express-openapi-validator", "/with/openapi/items?limit=a", {}, 400, "Bad Request"],
  ["swagger-ui-express", "/with/swagger/", {}, 200, "swagger-ui-bundle.js"],
  ["swagger-ui-express", "/with/swagger/swagger-ui.css", {}, 200, ".swagger-ui"],
  ["pg-boss", "/with/jobs/pg-boss", {}, 200, "42"],
  ["bullmq", "/with/jobs/bullmq", {}, 200, "42"],
  ["nodemailer", "/with/jobs/nodemailer", {}, 200, "b@example.org"],
  ["resend", "/with/jobs/resend", {}, 200, "from another service"],
  ["stripe", "/with/jobs/stripe", {}, 200, "from another service"],
  ["sharp", "/with/jobs/sharp", {}, 200, "true"],
  ["pdfkit", "/with/jobs/pdfkit", {}, 200, "%PDF-"],
  ["drizzle-orm, kysely and pg", "/with/database", {}, 200, '"drizzle":["by drizzle","by kysely"]'],
  ["@react-router/fs-routes", "/with/fs-routes", {}, 200, "a page of fs-routes"],
  ["remix-flat-routes", "/with/flat-routes", {}, 200, "a page of remix-flat-routes"],
  ["i18next", "/with/i18next", {}, 200, "Guten Tag"],
  ["remix-i18next", "/with/remix-i18next", { headers: { "Accept-Language": "de" } }, 200, "Guten Tag"],
  ["react-markdown", "/with/markdown", {}, 200, "<strong>Hello</strong> there"],
])("%s responds at %s", async ([, path, init, status, text], { server }) => {
  const response = await fetch(server.url + path, init);
  const body = await response.text();
  expect([response.status, body]).toEqual([status, expect.stringContaining(text)]);
});

/** It has no code for Node 20. */
test.skipIf(process.version.startsWith("v20."))("better-sqlite3 responds", async ({ server }) => {
  expect(await (await fetch(`${server.url}/with/jobs/better-sqlite3`)).json()).toEqual({ a: 1 });
});

test("helmet, cors and morgan set headers, and log", async ({ server }) => {
  const { headers } = await fetch(`${server.url}/with/cors`, { headers: { Origin: "https://other.example" } });
  expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(headers.get("Origin-Agent-Cluster")).toBe("?1");
  await expect.poll(() => server.lines.some(({ msg }) => /^GET \/with\/cors 200/.test(msg))).toBe(true);
});

test("express-rate-limit sends 429", async ({ server }) => {
  const get = async () => (await fetch(`${server.url}/with/limit`)).status;
  expect([await get(), await get(), await get()]).toEqual([200, 200, 429]);
});

test("express-session, connect-redis and passport keep a user's session", async ({ server }) => {
  const logIn = await fetch(`${server.url}/with/sessions/log-in`, { method: "POST", body: FORM });
  expect(await logIn.json()).toEqual({ username: "ada" });
  const [Cookie = ""] = logIn.headers.get("Set-Cookie")?.split(";") ?? [];
  expect(await (await fetch(`${server.url}/with/sessions/user`, { headers: { Cookie } })).json()).toEqual({
    username: "ada",
  });
  const visit = async () => (await fetch(`${server.url}/with/sessions`, { headers: { Cookie } })).json();
  expect([await visit(), await visit()]).toEqual([{ visits: 1 }, { visits: 2 }]);
});

test("@auth/express signs a user in", async ({ server }) => {
  const csrf = await fetch(`${server.url}/with/auth-js/csrf`);
  const { csrfToken } = (await csrf.json()) as { csrfToken: string };
  const readCookies = ({ headers }: Response) => headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const signIn = await fetch(`${server.url}/with/auth-js/callback/credentials`, {
    method: "POST",
    redirect: "manual",
    headers: { Cookie: readCookies(csrf).join("; ") },
    body: new URLSearchParams([...FORM, ["csrfToken", csrfToken]]),
  });
  const headers = { Cookie: readCookies(signIn).join("; ") };
  const session = await (await fetch(`${server.url}/with/auth-js/session`, { headers })).json();
  expect(session).toMatchObject({ user: { name: "ada" } });
});

test("@opentelemetry/auto-instrumentations-node sends the spans of requests", async () => {
  const tracing = parseEnv(readFileSync(`${FIXTURE}/tracing.env`, "utf8"));
  const env = { ...services.env, ...tracing, OTEL_EXPORTER_OTLP_ENDPOINT: services.env.OTHER_URL };
  const server = await startServer({ ...env, OTEL_NODE_ENABLED_INSTRUMENTATIONS: "http" }, FOLDER);
  await fetch(server.url);
  await server.stop();
  expect(services.paths).toContain("/v1/traces");
});

test("ws and socket.io echo", async ({ server }) => {
  const socket = new WebSocket(`${server.url}/socket`);
  onTestFinished(() => socket.close());
  await new Promise((resolve) => socket.once("open", resolve));
  const echoed = new Promise((resolve) => socket.once("message", (data) => resolve(String(data))));
  socket.send("hello");
  expect(await echoed).toBe("hello");
  // The handshake of its protocol.
  const text = await (await fetch(`${server.url}/with/socket-io/?EIO=4&transport=polling`)).text();
  expect(text).toMatch(/^0\{"sid":"/);
});

test.for(["aria", "jotai", "mantine", "motion", "mui", "react-table", "zustand"])(
  "the button of %s counts in the browser",
  async (name, { page, server }) => {
    await open(page, `${server.url}/with/${name}`);
    await page.getByRole("button").click();
    await page.getByText("pressed 1").waitFor();
  },
);

test.for([
  ["css-modules", "main"],
  ["emotion", "b"],
  ["sass", "b"],
  ["styled", "b"],
  ["vanilla", "main"],
] as const)("the styles of %s apply", async ([name, selector], { page, server }) => {
  await open(page, `${server.url}/with/${name}`);
  expect(await page.locator(selector).evaluate((element) => getComputedStyle(element).color)).toBe("rgb(1, 2, 3)");
});

test.for([
  ["react-form", "Name", "Bob", "Hello Bob"],
  ["react-hook-form", "Name", "Bob", "Hello Bob"],
  ["zod", "E-mail", "ada@example.org", "valid: true"],
] as const)("the form of %s shows what is typed", async ([name, label, typed, text], { page, server }) => {
  await open(page, `${server.url}/with/${name}`);
  await page.getByLabel(label).fill(typed);
  await page.getByText(text).waitFor();
});

test("conform shows an error of the browser", async ({ page, server }) => {
  await open(page, `${server.url}/with/conform`);
  await page.getByLabel("E-mail").fill("ada");
  await page.getByRole("button").click();
  await page.getByText("Invalid email").waitFor();
});

test("Base UI opens a dialog", async ({ page, server }) => {
  await open(page, `${server.url}/with/base-ui`);
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("a dialog").waitFor();
});

test("the menu of shadcn/ui counts", async ({ page, server }) => {
  await open(page, `${server.url}/with/shadcn`);
  await page.getByRole("button").click();
  await page.getByRole("menuitem").click();
  await page.getByText("pressed 1").waitFor();
});

test("msw responds in a test of the site", () => {
  run(FOLDER, "npx vitest run --project unit app/with/msw.test.ts");
});

test("Playwright Test opens a page", ({ server }) => {
  const { CHROMIUM = run(FOLDER, "command -v chromium-headless-shell chromium google-chrome | head -n 1").trim() } =
    process.env;
  run(FOLDER, `BASE_URL=${server.url} CHROMIUM='${CHROMIUM}' npx playwright test`);
});

// The last one installs a service worker, for all of the site's pages.
test.for([
  ["leaflet", "here"],
  ["recharts", "Bob"],
  ["shiki", "const"],
  ["pwa", "ready to work offline"],
] as const)("the page of %s shows %j", async ([name, text], { page, server }) => {
  await page.goto(`${server.url}/with/${name}`);
  await page.getByText(text).waitFor();
});
