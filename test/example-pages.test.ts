import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { launchChromium } from "./support/chromium.ts";
import { build, copyAndGrow } from "./support/copy-project.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

declare global {
  interface Window {
    __reactRouterDataRouter: { state: { initialized: boolean }; navigate: (path: string) => Promise<void> };
  }
}

/** What the browser, React (#419: the server had an error) and React Router write when a page fails. */
const EXPECTED_OF_ERRORS =
  /status of (404|500)|^Page not found: \/notes\/3$|React error #419|Unexpected Server Error|secret of the component/;
const FILM_SIZE = 50 * 1024 * 1024;

let folder: string;
let server: RunningServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  folder = copyAndGrow();
  mkdirSync(`${folder}/public`, { recursive: true });
  writeFileSync(`${folder}/public/film.mp4`, Buffer.alloc(FILM_SIZE, "0123456789"));
  build(folder);
  [server, browser] = await Promise.all([startServer({}, folder), launchChromium()]);
  context = await browser.newContext();
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  complaints = [];
});

afterEach(async () => {
  await page?.close();
  expect(complaints).toEqual([]);
});

/** Asks as a browser does; as a crawler it would get streamed pages whole. */
function ask(path: string, { headers, ...init }: RequestInit = {}) {
  return fetch(server.url + path, {
    redirect: "manual",
    headers: { "User-Agent": "Mozilla/5.0 Chrome/150", ...headers },
    ...init,
  });
}

/** What breaks the policy, and what hydration finds different, is written to the console. */
async function open(path: string) {
  page = await context.newPage();
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(server.url + path);
  await page.waitForFunction(() => window.__reactRouterDataRouter?.state.initialized);
}

/** Writes in the page's window; a page that is loaded anew forgets it. */
async function mark() {
  await page.evaluate(() => Object.assign(window, { isMarked: true }));
}
const isMarked = () => page.evaluate(() => "isMarked" in window);

/** A policy without what differs from answer to answer. */
function rules(response: Response) {
  return response.headers.get("Content-Security-Policy")?.replace(/ '(nonce|sha256)-[^']+'/g, "");
}

test("the types of the added pages are right", () => {
  execFileSync("npm", ["run", "typecheck"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
});

test.each([
  ["/about", 200],
  ["/notes/1", 200],
  ["/notes/2/", 200],
  ["/notes/3", 404],
  ["/notes", 404],
  ["/sign-up", 200],
  ["/weather", 200],
  ["/temperature", 200],
  ["/docs", 200],
  ["/docs/setup/linux", 200],
  ["/docs/setup", 404],
  ["/nowhere/else", 404],
  ["/notes/1.data", 200],
  ["/notes/3.data", 404],
  ["/docs/setup/linux.data", 200],
  ["/broken/not-found", 404],
  ["/broken/response", 500],
  ["/broken/loader", 500],
  ["/broken/component", 500],
])("%s is answered with %d", async (path, status) => {
  const [got, head] = await Promise.all([ask(path), ask(path, { method: "HEAD" })]);
  expect(got.status).toBe(status);
  expect(await got.text()).not.toContain("secret");
  // A component that throws is found out by rendering it, which no HEAD waits for.
  expect(head.status).toBe(path === "/broken/component" ? 200 : status);
  expect(await head.text()).toBe("");
  expect(head.headers.get("Content-Type")).toBe(got.headers.get("Content-Type"));
});

test("a page that is rendered once comes from memory, compressed, with its entity tag and policy", async () => {
  const response = await ask("/about", { headers: { "Accept-Encoding": "br" } });
  expect(response.headers.get("Content-Encoding")).toBe("br");
  expect(response.headers.get("Cache-Control")).toMatch(/^public/);
  expect(response.headers.get("Content-Security-Policy")).toMatch(/'sha256-/);
  const etag = response.headers.get("ETag") as string;
  const again = await ask("/about", { headers: { "Accept-Encoding": "br", "If-None-Match": etag } });
  expect(again.status).toBe(304);
});

test.each(["/notes/1", "/notes/3", "/sign-up", "/temperature", "/notes/1.data", "/broken/loader"])(
  "%s is rendered for each request: private, and under a policy as strict as the others",
  async (path) => {
    const [one, two, once] = await Promise.all([ask(path), ask(path), ask("/")]);
    expect(one.headers.get("Cache-Control")).toBe("private, no-cache");
    expect(one.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(rules(one)).toBe(rules(once));
    expect(one.headers.get("Content-Security-Policy")).not.toBe(two.headers.get("Content-Security-Policy"));
  },
);

test("slow data is streamed: first the page with a fallback, then what it waits for", async () => {
  const chunks = [];
  for await (const chunk of (await ask("/notes/1")).body as ReadableStream) chunks.push(Buffer.from(chunk).toString());
  expect(chunks[0]).toContain("Counting readers");
  expect(chunks.findIndex((chunk) => chunk.includes("Read by"))).toBeGreaterThan(0);
});

test("a crawler gets the whole page at once", async () => {
  const html = await (await ask("/notes/1", { headers: { "User-Agent": "Googlebot/2.1" } })).text();
  expect(html).not.toContain("Counting readers");
  expect(html).toMatch(/<p>Read by (<!-- -->)?7<\/p>/);
});

test.each([
  ["POST", "/sign-up", "email=nobody", 400, null],
  ["POST", "/sign-up", "email=taken@example.org", 409, null],
  ["POST", "/sign-up", "email=ada@example.org", 303, null],
  ["PUT", "/sign-up", "email=ada@example.org", 405, "GET, HEAD, POST"],
  ["DELETE", "/sign-up", undefined, 405, "GET, HEAD, POST"],
  ["POST", "/notes/1", "a=1", 405, "GET, HEAD"],
  ["POST", "/about", "a=1", 405, "GET, HEAD"],
  ["POST", "/temperature", "a=1", 405, "GET, HEAD"],
])("%s %s with %s is answered with %d", async (method, path, fields, status, allow) => {
  const response = await ask(path, { method, ...(fields && { body: new URLSearchParams(fields) }) });
  expect(response.status).toBe(status);
  expect(response.headers.get("Allow")).toBe(allow);
  expect(response.headers.get("Location")).toBe(status === 303 ? "/about" : null);
});

test.each([
  ["/broken/not-found", undefined],
  ["/broken/response", undefined],
  ["/broken/loader", "secret of the loader"],
  ["/broken/loader.data", "secret of the loader"],
  ["/broken/component", "secret of the component"],
  ["/broken/later", "secret of the promise"],
])("%s is logged once, with the error where it is a bug: %s", async (path, message) => {
  const requestId = `test${path.replaceAll("/", "-")}`;
  const text = await (await ask(path, { headers: { "X-Request-Id": requestId } })).text();
  expect(text).not.toContain("secret");
  const logged = () => server.lines.filter((line) => line.requestId === requestId);
  await expect.poll(() => logged().some(({ msg }) => msg === "request")).toBe(true);
  const errors = logged().filter(({ msg }) => msg !== "request");
  expect(errors.map(({ err }) => (err as Error).message)).toEqual(message ? [message] : []);
  expect((await ask("/")).status).toBe(200);
});

test("a large file is streamed, whole or in part, and memory stays flat", async () => {
  const part = await ask("/film.mp4", { headers: { Range: "bytes=52428795-" } });
  expect(part.status).toBe(206);
  expect(part.headers.get("Content-Range")).toBe(`bytes 52428795-52428799/${FILM_SIZE}`);
  expect(await part.text()).toBe("56789");

  const residentBytes = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))?.[1]) * 1024;
  const before = residentBytes();
  let highest = 0;
  const download = async () => {
    let received = 0;
    for await (const chunk of (await ask("/film.mp4")).body as ReadableStream<Uint8Array>) {
      received += chunk.length;
      highest = Math.max(highest, residentBytes());
    }
    return received;
  };
  const received = await Promise.all([download(), download(), download(), download()]);
  expect(received).toEqual(Array(4).fill(FILM_SIZE));
  expect(highest - before).toBeLessThan(2 * FILM_SIZE);
});

test("the log says of a visitor who leaves before the answer has ended", async () => {
  const stays = await ask("/film.mp4", { headers: { "X-Request-Id": "stays", Range: "bytes=0-9" } });
  await stays.text();
  const leaves = await ask("/film.mp4", { headers: { "X-Request-Id": "leaves" } });
  await leaves.body?.cancel();
  const logged = (id: string) => server.lines.filter(({ requestId }) => requestId === id);
  await expect.poll(() => logged("leaves")).toEqual([expect.objectContaining({ status: 200, aborted: true })]);
  expect(logged("stays")).toEqual([expect.not.objectContaining({ aborted: true })]);
});

test("navigation within the browser asks only for data, and streams it too", async () => {
  await open("/notes/1");
  await page.getByText("Read by 7").waitFor();
  await mark();
  const data = page.waitForResponse(`${server.url}/notes/2.data`);
  await page.getByRole("link").click();
  await page.getByRole("heading", { name: "Sow tomatoes" }).waitFor();
  await page.getByText("Counting readers").waitFor();
  await page.getByText("Read by 7").waitFor();
  expect((await data).status()).toBe(200);
  expect(await page.title()).toBe("Note 2");
  expect(await isMarked()).toBe(true);
});

test.each([true, false])("a form shows its errors, and leads on (JavaScript: %s)", async (javaScriptEnabled) => {
  const other = await browser.newContext({ javaScriptEnabled });
  const form = await other.newPage();
  const send = async (email: string) => {
    await form.getByRole("textbox").fill(email);
    await form.getByRole("button").click();
  };
  await form.goto(`${server.url}/sign-up`);
  await send("nobody");
  await form.getByText("This is no e-mail address").waitFor();
  await send("ada@example.org");
  await form.getByRole("heading", { name: "About" }).waitFor();
  await form.goto(`${server.url}/sign-up`);
  await send("taken@example.org");
  await form.getByRole("heading", { name: "Somebody has signed up" }).waitFor();
  await other.close();
});

test("a page with a query, both kinds of toast and a tooltip works under its policy", async () => {
  await open("/weather");
  await page.getByText("21 °C").waitFor();
  await page.getByRole("button", { name: "Measure" }).hover();
  await page.getByRole("tooltip", { name: "Asks the thermometer" }).waitFor();
  await page.getByRole("button", { name: "Measure" }).click();
  await page.locator(".toast", { hasText: "Measured again" }).waitFor();
  await page.getByRole("button", { name: "Subscribe" }).click();
  await page.locator("[data-sonner-toast]", { hasText: "You will hear of storms" }).waitFor();
});

test("a page that is rendered once may have a tooltip, in the tooltip's styles, and loads no toasts", async () => {
  await open("/about");
  await page.getByRole("button").hover();
  await page.getByRole("tooltip", { name: "Since 2026" }).waitFor();
  expect(await page.locator(".tooltip").evaluate((element) => getComputedStyle(element).paddingLeft)).toBe("12px");
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  expect(loaded.filter((url) => url.includes("toasters"))).toEqual([]);
});

test("a layout stays while the pages inside it change", async () => {
  await open("/docs");
  await mark();
  await page.getByRole("link", { name: "Linux" }).click();
  await page.getByRole("heading", { name: "How to set it up on Linux" }).waitFor();
  await page.getByRole("link", { name: "Handbook" }).click();
  await page.getByRole("heading", { name: "Handbook" }).waitFor();
  expect(await isMarked()).toBe(true);
});

test.each([
  ["/notes/3", "404", "Oops! Page not found"],
  ["/broken/loader", "500", "Oops! Something went wrong"],
  ["/broken/component", "500", "Oops! Something went wrong"],
  ["/broken/later", "500", "Oops! Something went wrong"],
])(
  "%s shows our error page, in its styles, on a first load and when the browser navigates there",
  async (path, heading, text) => {
    for (const start of [path, "/about", "/weather"]) {
      await open(start);
      await page.evaluate((path) => window.__reactRouterDataRouter.navigate(path), path);
      await page.getByRole("heading", { name: heading }).waitFor();
      expect(await page.locator("main > *").allTextContents()).toEqual([heading, text, "Return to Home"]);
      expect(await page.locator("main").evaluate((main) => getComputedStyle(main).display)).toBe("grid");
    }
    complaints = complaints.filter((text) => !EXPECTED_OF_ERRORS.test(text));
  },
);
