import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright-core";
import { findFreePort } from "react-router-express-server/testing";
import { onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { copySite } from "./support/copy-site.ts";
import { test as base, expect, open } from "./support/fixtures.ts";
import { withoutKnownWarnings } from "./support/known-warnings.ts";
import { startDevelopment } from "./support/start-development.ts";

// The tests edit this copy.
const FOLDER = copySite();
writeFileSync(
  `${FOLDER}/.env`,
  "PORT=1\nSESSION_SECRET=the-example-pages-own-of-32-characters\nSTRICT_TRANSPORT_SECURITY=max-age=7\n",
);

const test = base
  // The console also has hints of the development tools. Violations of the policy count.
  .extend("ignoredMessages", () => /^(debug|info): (?!.*Content Security Policy)/s)
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads a fixture's dependencies from this pattern.
  .extend("development", { scope: "file" }, ({}, { onCleanup }) => startDevelopment(FOLDER, onCleanup))
  .extend("url", { scope: "file" }, ({ development }) => development.url);

async function mark(page: Page) {
  await page.evaluate(() => Object.assign(window, { isMarked: true }));
}
const isMarked = (page: Page) => page.evaluate(() => "isMarked" in window);

/** Saves a file in one step: a server that reads it between its truncation and its writing would keep the empty file. */
function edit(path: string, ...changes: [from: string, to: string][]) {
  let text = readFileSync(`${FOLDER}/${path}`, "utf8");
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  writeFileSync(`${FOLDER}.edited`, text);
  renameSync(`${FOLDER}.edited`, `${FOLDER}/${path}`);
}

// The first, since two servers would write Vite's cache at the same time.
test("without a required setting, the errors have its name in one line, and no stack", async () => {
  const { url, errors } = await startDevelopment(FOLDER, onTestFinished, { env: { SESSION_SECRET: "" } });
  expect((await fetch(url)).status).toBe(500);
  const fault = "SESSION_SECRET is not set, and has no default";
  await expect.poll(() => errors.filter((line) => line.endsWith(`server error: ${fault}`))).toHaveLength(1);
  expect(errors).toContain(fault);
  expect(errors.filter((line) => /^\s*at /.test(line))).toEqual([]);
});

test("a redirect to a path beyond ASCII has an encoded Location", async ({ url }) => {
  const { status, headers } = await fetch(`${url}/example-pages/rename/redirect?to=你好`, { redirect: "manual" });
  expect([status, headers.get("Location")]).toEqual([303, encodeURI("/example-pages/names/你好")]);
});

test("the start and a first page write no warning", async ({ development, page, url }) => {
  await open(page, url);
  expect(withoutKnownWarnings(development.errors)).toEqual([]);
});

test.for([
  { args: ["--port", "PORT", "--strictPort"], where: "localhost" },
  { args: ["--port", "PORT", "--host", "127.0.0.1"], where: "127.0.0.1" },
])("the command line's $args take precedence over PORT", async ({ args, where }) => {
  const port = String(await findFreePort());
  const given = args.map((arg) => (arg === "PORT" ? port : arg));
  const { url } = await startDevelopment(copySite(), onTestFinished, { args: given });
  expect(url).toBe(`http://${where}:${port}`);
  expect((await fetch(url)).status).toBe(200);
});

test("the modules of every page are transformed before the first request", async () => {
  const { errors } = await startDevelopment(copySite(), onTestFinished, { env: { DEBUG: "vite:transform" } });
  // The server loads no entry of the browser.
  await expect.poll(() => errors.join("\n")).toContain("app/entry.client.tsx");
});

test("if the port is in use, a warning names the process, and the site is at the next one", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { url, errors } = await startDevelopment(copySite(), onTestFinished, { env: { PORT: String(port) } });
  expect(Number(new URL(url).port)).toBeGreaterThan(port);
  const holder = process.platform === "linux" ? ` by process ${process.pid} \\(` : "";
  const warning = expect.stringMatching(new RegExp(`Port ${port} is in use${holder}.*set another port`));
  await expect.poll(() => errors).toContainEqual(warning);
});

// React's development build logs each difference that it finds during hydration.
test.for([
  "/",
  "/example-pages/about",
  "/example-pages/notes/1",
  "/example-pages/sign-up",
  "/example-pages/weather",
  "/example-pages/docs/setup/linux",
  "/example-pages/prices",
  "/example-pages/dialog",
  "/example-pages/progress",
])("%s is hydrated without a warning", async (path, { page, url }) => {
  await open(page, url + path);
});

test.for<[string, number]>([
  ["/", 200],
  ["/example-pages/temperature", 200],
  ["/nowhere", 404],
  ["/example-pages/notes/3", 404],
  ["/example-pages/broken/component", 500],
])("%s has status %d", async ([path, status], { url }) => {
  expect((await fetch(url + path)).status).toBe(status);
});

test.for([
  { how: "loader", first: "Error: secret of the loader" },
  { how: "component", first: "Error: secret of the component" },
])("an error in a $how is on the page, with its stack", async ({ how, first }, { page, url, consoleMessages }) => {
  await open(page, `${url}/example-pages/broken/${how}`);
  const stack = await page.locator("pre").textContent();
  expect(stack?.split("\n", 1)).toEqual([first]);
  expect(stack).toMatch(/\n {4}at .*app\/example-pages\/broken\.tsx:\d+:\d+/);
  expect(consoleMessages.splice(0).filter((message) => !/secret of|status of 500/.test(message))).toEqual([]);
});

test("a cached page whose loader reads a cookie is logged once", async ({ development }) => {
  const { url, lines } = development;
  for (const id of ["2", "2", "1"]) await fetch(`${url}/example-pages/posts/${id}`);
  await expect.poll(() => lines.filter((line) => line.includes("reads the request's headers"))).toHaveLength(1);
  expect(lines.join("\n")).toContain("app/example-pages/post.tsx");
});

test("in development, a cached page is rendered anonymously", async ({ url }) => {
  const post = await fetch(`${url}/example-pages/posts/2?page=3&utm_source=mail`, { headers: { Cookie: "secret=1" } });
  const text = await post.text();
  expect(text).toContain("Sow tomatoes");
  expect(text).not.toMatch(/secret=1|mail/);
});

test("in development, a page with variants has the language of the browser, and its data too", async ({ url }) => {
  for (const path of ["/example-pages/hello", "/example-pages/hello.data"]) {
    const response = await fetch(url + path, { headers: { "Accept-Language": "de-AT,de;q=0.9" } });
    expect(await response.text()).toContain("Hallo");
    expect(response.headers.get("Vary")).toContain("Accept-Encoding, Accept-Language");
  }
});

test("the file .env adds settings, and the environment takes precedence", async ({ url }) => {
  expect(new URL(url).port).not.toBe("1");
  expect((await fetch(url)).headers.get("Strict-Transport-Security")).toBe("max-age=7");
});

test("a page's change shows, without loading the page anew", async ({ page, url }) => {
  await open(page, `${url}/example-pages/weather`);
  await mark(page);
  edit("app/example-pages/weather.tsx", ["<h1>Weather</h1>", "<h1>Climate</h1>"]);
  await page.getByRole("heading", { name: "Climate" }).waitFor();
  expect(await isMarked(page)).toBe(true);
  expect(await (await fetch(`${url}/example-pages/weather`)).text()).toContain("Climate</h1>");
});

test("a loader's change shows, without loading the page anew", async ({ page, url }) => {
  await open(page, `${url}/example-pages/notes/1`);
  await mark(page);
  edit("app/example-pages/note.tsx", ["Buy milk", "Buy oats"]);
  await page.getByRole("heading", { name: "Buy oats" }).waitFor();
  expect(await isMarked(page)).toBe(true);
});

test("a style's change shows, without loading the page anew", async ({ page, url }) => {
  await open(page, `${url}/`);
  await mark(page);
  edit("app/app.css", ["letter-spacing: -0.03em", "letter-spacing: 7px"]);
  const spacing = () => page.locator("h1").evaluate((heading) => getComputedStyle(heading).letterSpacing);
  await expect.poll(spacing).toBe("7px");
  expect(await isMarked(page)).toBe(true);
});

test("a utility's change shows, without loading the page anew", async ({ page, url }) => {
  await open(page, `${url}/example-pages/prices`);
  await mark(page);
  const padding = () => page.locator("li:first-child").evaluate((item) => getComputedStyle(item).paddingLeft);
  expect(await padding()).toBe("16px");
  edit("app/example-pages/prices.tsx", ["px-4", "px-9"]);
  await expect.poll(padding).toBe("36px");
  expect(await isMarked(page)).toBe(true);
});

test("the console shows violations of the policy", async ({ page, url, consoleMessages }) => {
  await open(page, `${url}/example-pages/progress`);
  expect(consoleMessages).toEqual([]);
  edit("app/example-pages/progress.tsx", ["style-src-attr 'unsafe-inline'", ""]);
  const isReported = (message: string) => message.includes("Applying inline style violates");
  await expect.poll(() => consoleMessages.some(isReported)).toBe(true);
  await page.goto("about:blank");
  expect(consoleMessages.splice(0).filter((message) => !isReported(message))).toEqual([]);
});

test("the console also shows violations of elements that a script inserts into a cached page", async ({
  page,
  url,
  consoleMessages,
}) => {
  const openDialog = async (name: string) => {
    await open(page, `${url}/example-pages/${name}`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").waitFor({ timeout: 10_000 });
  };
  await openDialog("dialog");
  await openDialog("gallery");
  expect(consoleMessages).toEqual([]);
  await page.goto("about:blank"); // The change would load the page anew, while it is opened again.
  edit("app/example-pages/gallery.tsx", ["\"Content-Security-Policy\": \"style-src-elem 'self' 'unsafe-inline'\"", ""]);
  const isReported = (message: string) => message.includes("Applying inline style violates");
  await expect
    .poll(async () => (await fetch(`${url}/example-pages/gallery`)).headers.get("Content-Security-Policy-Report-Only"))
    .not.toContain("unsafe-inline");
  // The browser may get the change later than the server, and then it reloads the page.
  await vi.waitFor(() => openDialog("gallery"), { timeout: 60_000 });
  await expect.poll(() => consoleMessages.some(isReported)).toBe(true);
  expect(consoleMessages.splice(0).filter((message) => !isReported(message))).toEqual([]);
});

test.for([
  { routes: "app/routes.ts", name: "first", line: '{ path: "/example-pages/first", file: "example-pages/first.tsx" }' },
  { routes: "app/example-pages/routes.ts", name: "second", line: 'route("second", "example-pages/second.tsx")' },
])("a new file and a line in $routes add a page", async ({ routes, name, line }, { page, url }) => {
  const path = `/example-pages/${name}`;
  const listed = () =>
    page.evaluate(() => (window as never as { __ROUTES__: { path: string }[] }).__ROUTES__.map(({ path }) => path));
  await open(page, url);
  expect(await listed()).not.toContain(path);
  writeFileSync(`${FOLDER}/app${path}.tsx`, "export default function New() {\n  return <h1>New</h1>;\n}\n");
  edit(routes, ["[\n", `[\n  ${line},\n`]);
  await expect.poll(async () => (await fetch(url + path)).status).toBe(200);
  await expect.poll(listed).toContain(path);
  await open(page, url + path);
  await page.getByRole("heading", { name: "New" }).waitFor();
});

test("a change of server.ts shows", async ({ url }) => {
  const readHeader = async () => (await fetch(url)).headers.get("X-Edited");
  edit("server.ts", [
    "app.use(files);",
    'app.use((_req, res, next) => next(res.set("X-Edited", "once") && undefined));\n    $&',
  ]);
  await expect.poll(readHeader).toBe("once");
});

test("an edit of a page, of server.ts or of its modules loads no module of the engine again", async ({ url }) => {
  const { headers } = await fetch(url);
  const readEdits = async () => (await fetch(url)).headers.get("X-Edits");
  expect(headers.get("X-Edits")).toBe(null);
  edit(
    "server.ts",
    ["", 'import { cacheContext } from "react-router-express-server/app";\n'],
    [
      "app.use(files);",
      `app.use((_req, res, next) => {
      const seen = ((globalThis as never as { seen?: Map<unknown, Set<unknown>> }).seen ??= new Map());
      for (const [name, value] of Object.entries({ cacheContext, createExpress, app }))
        seen.set(name, (seen.get(name) ?? new Set()).add(value));
      res.set("X-Edits", JSON.stringify([...seen].map(([name, values]) => [name, values.size])));
      next();
    });
    $&`,
    ],
  );
  const seen = (apps: number) =>
    JSON.stringify([
      ["cacheContext", 1],
      ["createExpress", 1],
      ["app", apps],
    ]);
  await expect.poll(readEdits).toBe(seen(1));
  edit("app/routes/home.tsx", ["", "// Edited.\n"]);
  await expect.poll(readEdits).toBe(seen(2));
  edit("front.ts", ["", "// Edited.\n"]);
  await expect.poll(readEdits).toBe(seen(3));
});

test("the services work, and a change shows", async ({ url }) => {
  const echo = async () => {
    await fetch(url); // It loads what has changed.
    const client = new WebSocket(`${url.replace("http", "ws")}/socket`);
    await once(client, "open");
    client.send("hello");
    const [data] = await once(client, "message");
    client.close();
    return String(data);
  };
  expect(await echo()).toBe("hello");
  edit("server.ts", ["client.send(data,", "client.send(data + ' again',"]);
  await expect.poll(echo).toBe("hello again");
});

test("a change of a module that server.ts imports shows", async ({ url }) => {
  const readItem = async () => (await fetch(`${url}/front/api/items/1`)).json();
  expect(await readItem()).toEqual({ id: "1" });
  edit("front.ts", ["res.json({ id: params.id })", "res.json({ id: params.id, isEdited: true })"]);
  await expect.poll(readItem).toEqual({ id: "1", isEdited: true });
});

test("an edit closes the services before it opens them again, also while a route isn't valid", async ({
  development,
  url,
}) => {
  const { lines } = development;
  const count = (text: string) => lines.filter((line) => line.includes(text)).length;
  edit(
    "server.ts",
    ["    const sockets =", '    log.info("services opened");\n$&'],
    ["      setContext(context) {", '      close: async () => log.info("services closed"),\n$&'],
    ["      setContext(context) {", '      checkReadiness: () => log.info("services checked"),\n$&'],
    [
      "    app.use(files);",
      '    app.use((_req, res, next) => next(res.set("X-Resources", process.getActiveResourcesInfo()) && undefined));\n$&',
    ],
  );
  const temperature = async () => {
    const response = await fetch(`${url}/example-pages/temperature`);
    const timers = response.headers.get("X-Resources")?.match(/\bTimeout\b/g);
    return { status: response.status, text: await response.text(), timers: timers?.length };
  };
  await expect.poll(async () => (await temperature()).timers).toBeDefined();
  const { timers } = await temperature();
  const client = new WebSocket(`${url.replace("http", "ws")}/socket`);
  await once(client, "open");
  const closed = once(client, "close");
  for (let celsius = 22; celsius < 27; celsius += 1) {
    edit("app/example-pages/temperature.ts", [String(celsius - 1), String(celsius)]);
    await expect.poll(temperature).toMatchObject({ text: JSON.stringify({ celsius }) });
    await setTimeout(100); // Vite's watcher misses a file that is saved again within 50 ms.
  }
  expect((await closed)[0]).toBe(1001);
  edit("app/example-pages/temperature.ts", ["export ", "export const handle = { maxBodyByte: 1 };\n$&"]);
  await expect.poll(temperature).toMatchObject({ status: 500 });
  for (let request = 0; request < 5; request += 1) await temperature();
  edit("app/example-pages/temperature.ts", ["export const handle = { maxBodyByte: 1 };\n", ""]);
  await expect.poll(temperature).toMatchObject({ status: 200, text: JSON.stringify({ celsius: 26 }) });
  // Each opening of the services starts timers.
  await expect.poll(async () => (await temperature()).timers).toBeLessThanOrEqual(Number(timers));
  expect(count("services opened")).toBeGreaterThan(6);
  expect(count("services opened") - count("services closed")).toBe(1);
  // A check may create a database's tables.
  expect(count("services checked")).toBeGreaterThanOrEqual(count("services opened"));
});

test("if the services fail to close, the next change shows", async ({ url }) => {
  edit("server.ts", ["close: async () => ", "close: async () => { throw new Error('has closed before') }, // "]);
  const edited = async () => (await fetch(`${url}/example-pages/temperature`)).text();
  await expect.poll(edited).toBe(JSON.stringify({ celsius: 26 }));
  edit("app/example-pages/temperature.ts", ["26", "27"]);
  await expect.poll(edited).toBe(JSON.stringify({ celsius: 27 }));
});
