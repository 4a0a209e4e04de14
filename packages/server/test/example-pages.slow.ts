import { readFileSync } from "node:fs";
import type { RouteConfigEntry } from "@react-router/dev/routes";
import type { Page } from "playwright-core";
import examplePages from "./site/app/example-pages/routes.ts";
import { FILM_BYTES } from "./support/film.ts";
import { expect, open, test } from "./support/fixtures.ts";

/** The messages of the browser, React (#419: an error on the server) and React Router if a page fails. */
const EXPECTED_OF_ERRORS =
  /status of (404|500)|^error: Page not found: \/(example-pages\/notes\/3|nowhere)$|React error #419|Unexpected Server Error|secret of the component/;

/** Sends a request as a browser does; a crawler would get streamed pages whole. */
function request(url: string, { headers, ...init }: RequestInit = {}) {
  return fetch(url, { redirect: "manual", headers: { "User-Agent": "Mozilla/5.0 Chrome/150", ...headers }, ...init });
}

/** Sets a property of the page's window. A reload removes it. */
async function mark(page: Page) {
  await page.evaluate(() => Object.assign(window, { isMarked: true }));
}
const isMarked = (page: Page) => page.evaluate(() => "isMarked" in window);

/** A policy without what differs from response to response. */
function rules(response: Response) {
  return response.headers.get("Content-Security-Policy")?.replace(/ '(nonce|sha256)-[^']+'/g, "");
}

test("the example pages have files, ids and paths that a product won't have", () => {
  const check = ({ id, file, path, children }: RouteConfigEntry, parentPath = "") => {
    const fullPath = path?.startsWith("/") ? path : `${parentPath}/${path ?? ""}`;
    expect(file).toMatch(/^example-pages\//);
    // The framework derives the id from the file's name.
    expect(id).toBe(undefined);
    for (const child of children ?? []) check(child, path && fullPath);
    if (!children) expect(fullPath).toMatch(/^\/example-pages\//);
  };
  for (const page of examplePages) check(page);
});

test.for<[string, number]>([
  ["/example-pages/about", 200],
  ["/example-pages/notes/1", 200],
  ["/example-pages/notes/2/", 200],
  ["/example-pages/notes/3", 404],
  ["/example-pages/notes", 404],
  ["/example-pages/sign-up", 200],
  ["/example-pages/weather", 200],
  ["/example-pages/temperature", 200],
  ["/example-pages/docs", 200],
  ["/example-pages/docs/setup/linux", 200],
  ["/example-pages/docs/setup", 404],
  ["/nowhere/else", 404],
  ["/example-pages/notes/1.data", 200],
  ["/example-pages/notes/3.data", 404],
  ["/example-pages/docs/setup/linux.data", 200],
  ["/example-pages/broken/not-found", 404],
  ["/example-pages/broken/response", 500],
  ["/example-pages/broken/loader", 500],
  ["/example-pages/broken/component", 500],
])("%s has status %d", async ([path, status], { server }) => {
  const [got, head] = await Promise.all([request(server.url + path), request(server.url + path, { method: "HEAD" })]);
  expect(got.status).toBe(status);
  expect(await got.text()).not.toContain("secret");
  // Only a render shows that a component throws, and HEAD renders nothing.
  expect(head.status).toBe(path === "/example-pages/broken/component" ? 200 : status);
  expect(await head.text()).toBe("");
  expect(head.headers.get("Content-Type")).toBe(got.headers.get("Content-Type"));
});

test("a cached page comes from memory, compressed, with an entity tag and a policy", async ({ server }) => {
  const response = await request(`${server.url}/example-pages/about`, { headers: { "Accept-Encoding": "br" } });
  expect(response.headers.get("Content-Encoding")).toBe("br");
  expect(response.headers.get("Cache-Control")).toMatch(/^public/);
  expect(response.headers.get("Content-Security-Policy")).toMatch(/'sha256-/);
  const etag = response.headers.get("ETag") as string;
  const again = await request(`${server.url}/example-pages/about`, {
    headers: { "Accept-Encoding": "br", "If-None-Match": etag },
  });
  expect(again.status).toBe(304);
});

test("a page with variants is in the browser's language, with scripts too", async ({ page, server }) => {
  await page.setExtraHTTPHeaders({ "Accept-Language": "de-AT,de;q=0.9,en;q=0.8" });
  await open(page, `${server.url}/example-pages/hello`);
  expect(await page.locator("h1").textContent()).toBe("Hallo");
});

test.for([
  "/example-pages/notes/1",
  "/example-pages/notes/3",
  "/example-pages/sign-up",
  "/example-pages/temperature",
  "/example-pages/notes/1.data",
  "/example-pages/broken/loader",
])("%s is rendered for each request: private, and under a policy as strict as the others", async (path, { server }) => {
  const [one, two, once] = await Promise.all([
    request(server.url + path),
    request(server.url + path),
    request(`${server.url}/`),
  ]);
  expect(one.headers.get("Cache-Control")).toBe("private, no-cache");
  expect(one.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(rules(one)).toBe(rules(once));
  expect(one.headers.get("Content-Security-Policy")).not.toBe(two.headers.get("Content-Security-Policy"));
});

test("slow data is streamed: first the page with a fallback, then the data", async ({ server }) => {
  const chunks = [];
  for await (const chunk of (await request(`${server.url}/example-pages/notes/1`)).body as ReadableStream)
    chunks.push(Buffer.from(chunk).toString());
  expect(chunks[0]).toContain("Counting readers");
  expect(chunks.findIndex((chunk) => chunk.includes("Read by"))).toBeGreaterThan(0);
});

test("a crawler gets the complete page", async ({ server }) => {
  const html = await (
    await request(`${server.url}/example-pages/notes/1`, { headers: { "User-Agent": "Googlebot/2.1" } })
  ).text();
  expect(html).not.toContain("Counting readers");
  expect(html).toMatch(/<p>Read by (<!-- -->)?7<\/p>/);
});

const EVERY_METHOD = "GET, HEAD, POST, PUT, PATCH, DELETE";

test.for<[string, string, string | undefined, number, string | null]>([
  ["POST", "/example-pages/sign-up", "email=nobody", 400, null],
  ["POST", "/example-pages/sign-up", "email=taken@example.org", 409, null],
  ["POST", "/example-pages/sign-up", "email=ada@example.org", 303, null],
  ["DELETE", "/example-pages/sign-up", undefined, 400, null],
  ["OPTIONS", "/example-pages/sign-up", undefined, 405, EVERY_METHOD],
  ["PROPFIND", "/example-pages/sign-up.data", undefined, 405, EVERY_METHOD],
  ["PUT", "/example-pages/echo", "a=1", 200, null],
  ["PATCH", "/example-pages/echo", "a=1", 200, null],
  ["DELETE", "/example-pages/echo", "a=1", 200, null],
  ["POST", "/example-pages/tasks", "task=Rest", 200, null],
  ["PUT", "/example-pages/tasks", "task=Rest", 200, null],
  ["PATCH", "/example-pages/tasks.data", "task=Rest", 200, null],
  ["DELETE", "/example-pages/tasks.data", "task=Rest", 200, null],
  ["POST", "/example-pages/tasks?index", "task=Rest", 405, "GET, HEAD"],
  ["POST", "/example-pages/tasks.data?index", "task=Rest", 405, "GET, HEAD"],
  ["POST", "/example-pages/notes/1", "a=1", 405, "GET, HEAD"],
  ["PUT", "/example-pages/notes/1.data", "a=1", 405, "GET, HEAD"],
  ["PROPFIND", "/example-pages/notes/1", undefined, 405, "GET, HEAD"],
  ["POST", "/example-pages/about", "a=1", 405, "GET, HEAD"],
  ["POST", "/example-pages/temperature", "a=1", 405, "GET, HEAD"],
  ["OPTIONS", "/example-pages/temperature", undefined, 200, null],
  ["GET", "/example-pages/password", undefined, 405, "POST, PUT, PATCH, DELETE"],
  ["OPTIONS", "/example-pages/password", undefined, 405, "POST, PUT, PATCH, DELETE"],
])("%s %s with %s has status %d", async ([method, path, fields, status, allow], { server }) => {
  const requestId = crypto.randomUUID();
  const response = await request(server.url + path, {
    method,
    headers: { "X-Request-Id": requestId },
    ...(fields && { body: new URLSearchParams(fields) }),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get("Allow")).toBe(allow);
  expect(response.headers.get("Location")).toBe(status === 303 ? "/example-pages/about" : null);
  expect(await response.text()).not.toMatch(/ at .*:\d+:\d+/);
  const logged = () => server.lines.filter((line) => line["http.request.id"] === requestId).map(({ msg }) => msg);
  await expect.poll(logged).toEqual(["request"]);
});

test("a form can submit to its layout's action, and a fetcher can send DELETE", async ({ page, server }) => {
  await open(page, `${server.url}/example-pages/tasks`);
  await page.getByRole("textbox").fill("Mow the lawn");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("button", { name: "Mow the lawn" }).click();
  await page.getByRole("button", { name: "Mow the lawn" }).waitFor({ state: "detached" });
});

test.for<[string, string | undefined]>([
  ["/example-pages/broken/not-found", undefined],
  ["/example-pages/broken/response", undefined],
  ["/example-pages/broken/loader", "secret of the loader"],
  ["/example-pages/broken/loader.data", "secret of the loader"],
  ["/example-pages/broken/component", "secret of the component"],
  ["/example-pages/broken/later", "secret of the promise"],
])("besides the request line, %s logs this exception: %s", async ([path, message], { server }) => {
  const requestId = `test${path.replaceAll("/", "-")}`;
  const text = await (await request(server.url + path, { headers: { "X-Request-Id": requestId } })).text();
  expect(text).not.toContain("secret");
  const logged = () => server.lines.filter((line) => line["http.request.id"] === requestId);
  await expect.poll(() => logged().some(({ msg }) => msg === "request")).toBe(true);
  const errors = logged().filter(({ msg }) => msg !== "request");
  expect(errors.map((line) => line["exception.message"])).toEqual(message ? [message] : []);
  expect((await request(`${server.url}/`)).status).toBe(200);
});

test("a response whose stream fails is cut, and logged once with the error", async ({ server }) => {
  const response = await request(`${server.url}/example-pages/response?lines=1&fails=yes`, {
    headers: { "X-Request-Id": "test-body-that-fails" },
  });
  await expect(response.text()).rejects.toThrow("terminated");
  const logged = () => server.lines.filter((line) => line["http.request.id"] === "test-body-that-fails");
  await expect.poll(() => logged().some(({ msg }) => msg === "request")).toBe(true);
  const errors = logged().filter(({ msg }) => msg !== "request");
  expect(errors.map((line) => line["exception.message"])).toEqual(["secret of the body"]);
});

test("a large file is streamed, whole or in part, and memory stays flat", async ({ server }) => {
  const part = await request(`${server.url}/film.mp4`, { headers: { Range: `bytes=${FILM_BYTES - 5}-` } });
  expect(part.status).toBe(206);
  expect(part.headers.get("Content-Range")).toBe(`bytes ${FILM_BYTES - 5}-${FILM_BYTES - 1}/${FILM_BYTES}`);
  expect(await part.text()).toBe("56789");
  const beyond = await request(`${server.url}/film.mp4`, { headers: { Range: `bytes=${FILM_BYTES}-` } });
  expect(beyond.status).toBe(416);
  expect(Object.fromEntries(beyond.headers)).toMatchObject({
    "cache-control": "no-store",
    "content-range": `bytes */${FILM_BYTES}`,
  });

  for (const [method, headers] of [
    ["HEAD", { Range: "bytes=0-9" }],
    ["GET", { Range: "bytes=0-9", "If-Range": `W/${part.headers.get("ETag")?.replace("W/", "")}` }],
  ] as const) {
    const whole = await request(`${server.url}/film.mp4`, { method, headers });
    expect([method, whole.status]).toEqual([method, 200]);
    await whole.body?.cancel();
  }

  const residentBytes = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))?.[1]) * 1024;
  const before = residentBytes();
  let highest = 0;
  const download = async () => {
    let received = 0;
    for await (const chunk of (await request(`${server.url}/film.mp4`)).body as ReadableStream<Uint8Array>) {
      received += chunk.length;
      highest = Math.max(highest, residentBytes());
    }
    return received;
  };
  const received = await Promise.all([download(), download(), download(), download()]);
  expect(received).toEqual(Array(4).fill(FILM_BYTES));
  expect(highest - before).toBeLessThan(FILM_BYTES);
});

test("the log marks a client that leaves before its response has ended", async ({ server }) => {
  const stays = await request(`${server.url}/film.mp4`, {
    headers: { "X-Request-Id": "stays", Range: "bytes=0-9" },
  });
  await stays.text();
  const leaves = await request(`${server.url}/film.mp4`, { headers: { "X-Request-Id": "leaves" } });
  await leaves.body?.cancel();
  const logged = (id: string) => server.lines.filter((line) => line["http.request.id"] === id);
  const aborted = { "error.type": "aborted" };
  await expect
    .poll(() => logged("leaves"))
    .toEqual([expect.objectContaining({ "http.response.status_code": 200, ...aborted })]);
  expect(logged("stays")).toEqual([expect.not.objectContaining(aborted)]);
});

test("navigation within the browser asks only for data, and streams it too", async ({ page, server }) => {
  await open(page, `${server.url}/example-pages/about`);
  await mark(page);
  const data = page.waitForResponse(`${server.url}/example-pages/streamed.data`);
  await page.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/streamed"));
  await page.getByText("Soon").waitFor();
  server.child.kill("SIGUSR2");
  await page.getByText("Later").waitFor();
  expect((await data).status()).toBe(200);
  expect(await page.title()).toBe("Streamed");
  expect(await isMarked(page)).toBe(true);
});

test.for([true, false])(
  "a form shows its errors, and redirects if its input is valid (JavaScript: %s)",
  async (javaScriptEnabled, { browser, server }) => {
    const other = await browser.newContext({ javaScriptEnabled });
    const form = await other.newPage();
    const send = async (email: string) => {
      await form.getByRole("textbox").fill(email);
      await form.getByRole("button").click();
    };
    await form.goto(`${server.url}/example-pages/sign-up`);
    expect(await form.getByRole("textbox").getAttribute("aria-describedby")).toBe(null);
    await send("nobody");
    await form.getByText("This is no e-mail address").waitFor();
    await form.locator("[aria-invalid=true][aria-describedby=email-error]").waitFor();
    if (javaScriptEnabled) await form.locator("#email:focus").waitFor();
    await send("ada@example.org");
    await form.getByRole("heading", { name: "About" }).waitFor();
    await form.goto(`${server.url}/example-pages/sign-up`);
    await send("taken@example.org");
    await form.getByRole("heading", { name: "Somebody has signed up" }).waitFor();
    await other.close();
  },
);

test("a form whose request fails stays, and a message has the reason", async ({ page, server, consoleMessages }) => {
  await open(page, `${server.url}/example-pages/sign-up`);
  await page.route("**/*.data", (route) => route.abort());
  await page.getByRole("textbox").fill("ada@example.org");
  const shown = page.waitForEvent("dialog").then(async (dialog) => {
    const text = dialog.message();
    await dialog.accept();
    return text;
  });
  await page.getByRole("button", { name: "Sign up" }).click();
  expect(await shown).not.toBe("");
  expect(await page.getByRole("textbox").inputValue()).toBe("ada@example.org");
  consoleMessages.splice(0);
});

test("a page fetches data in the browser", async ({ page, server }) => {
  await open(page, `${server.url}/example-pages/weather`);
  await page.getByText("21 °C").waitFor();
});

test("a page shows server-sent events as they come", async ({ page, server }) => {
  await open(page, `${server.url}/example-pages/clock`);
  const time = page.locator("time");
  const first = await time.textContent();
  expect(first).toMatch(/^\d{1,2}:\d\d:\d\d/);
  expect(await time.getAttribute("datetime")).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  await expect.poll(() => time.textContent()).not.toBe(first);
});

test("a layout stays while the pages inside it change", async ({ page, server }) => {
  await open(page, `${server.url}/example-pages/docs`);
  await mark(page);
  await page.getByRole("link", { name: "Linux" }).click();
  await page.getByRole("heading", { name: "How to set it up on Linux" }).waitFor();
  await page.getByRole("link", { name: "Handbook" }).click();
  await page.getByRole("heading", { name: "Handbook" }).waitFor();
  expect(await isMarked(page)).toBe(true);
});

test.for([
  { path: "/example-pages/notes/3", like: "/nowhere", heading: "404" },
  { path: "/example-pages/broken/loader", like: "/example-pages/broken/response", heading: "500" },
  { path: "/example-pages/broken/component", like: "/example-pages/broken/response", heading: "500" },
  { path: "/example-pages/broken/later", like: "/example-pages/broken/response", heading: "500" },
])(
  "$path shows our error page on a first load and when the browser navigates there",
  async ({ path, like, heading }, { page, server, consoleMessages }) => {
    const texts = () => page.locator("main > h1").allTextContents();
    await open(page, server.url + like);
    const expected = await texts();
    expect(expected[0]).toBe(heading);
    for (const start of [path, "/example-pages/about", "/example-pages/weather"]) {
      await open(page, server.url + start);
      await page.evaluate((path) => window.__reactRouterDataRouter.navigate(path), path);
      await expect.poll(texts).toEqual(expected);
    }
    const unexpected = consoleMessages.splice(0).filter((message) => !EXPECTED_OF_ERRORS.test(message));
    expect(unexpected).toEqual([]);
  },
);
