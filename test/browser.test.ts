import { expect, open, test } from "./support/fixtures.ts";
import { readHtml } from "./support/read-html.ts";

const DOCUMENT_IS_404 = "error: Failed to load resource: the server responded with a status of 404 (Not Found)";
const notFound = (path: string) => `error: Page not found: ${path}`;

test.for(["/", "/?q=1", "//", "/#top"])("%s is home", async (path, { page, server }) => {
  const response = await open(page, server.url + path);
  expect(response?.status()).toBe(200);
  const heading = await page.locator("h1").evaluate((heading) => heading.outerHTML);
  expect(heading).toBe(await readHtml(page, server.url, "h1"));
});

const UNKNOWN = ["/nope", "/nope/", "/a//b", "/%c%s", "/%", "/%E0%A4%A", "/%2f", "/%0a", "/index.html", "/欢迎"];

test("unknown paths show the not-found page, and log to the console", async ({ page, server, consoleMessages }) => {
  const shown = await readHtml(page, `${server.url}/nowhere`, "main");
  for (const path of [...UNKNOWN, `/${"a".repeat(7000)}`]) {
    const asTyped = encodeURI(path).replaceAll("%25", "%");
    const arrival = page.waitForEvent("console", (message) => message.text().startsWith("Page not found:"));
    const response = await open(page, server.url + asTyped);
    expect(response?.status(), path).toBe(404);
    expect(await page.locator("main").evaluate((main) => main.outerHTML), path).toBe(shown);
    // The path is a separate argument: in a format string, "%c" would be a directive.
    const args = (await arrival).args().map((arg) => arg.jsonValue());
    expect(await Promise.all(args)).toEqual(["Page not found:", asTyped]);
    // The router itself warns of an address that can't be decoded.
    const isMalformed = /%(?![\da-f]{2})/i.test(asTyped);
    const messages = consoleMessages.splice(0).filter((message) => !(isMalformed && message.startsWith("warning: ")));
    expect(messages).toEqual([DOCUMENT_IS_404, notFound(asTyped)]);
  }
});

test("navigating home and back requests no module of the pages, and each visit of the not-found page logs one message", async ({
  page,
  server,
  consoleMessages,
}) => {
  const requested: string[] = [];
  page.on("request", (request) => {
    // A product's pages may fetch or send more, such as a beacon.
    if (!["fetch", "ping", "xhr"].includes(request.resourceType()))
      requested.push(request.url().replace(server.url, ""));
  });
  await open(page, `${server.url}/nope?q`);
  // Home is loaded beforehand, once the page is interactive.
  await expect.poll(() => requested.some((path) => path.startsWith("/assets/home-"))).toBe(true);
  await page.waitForLoadState("networkidle");
  // The data of home, if it has a loader, comes with its script.
  for (const path of requested)
    expect(path).toMatch(/^\/(nope\?q|_\.data|assets\/[\w.-]+\.(js|woff2)|icon\.svg|favicon\.ico)$/);

  // Without the attributes that make the heading focusable after a navigation, and those of a view transition.
  const plain = (html = "") => html.replace(/ (tabindex="-1"|style=""|vt-\w+="\w+")/g, "");
  const heading = async () => plain(await page.locator("h1").evaluate((heading) => heading.outerHTML));
  const focused = () => page.evaluate(() => document.activeElement?.tagName);
  const [home, unknown] = [plain(await readHtml(page, server.url, "h1")), await heading()];
  const initial = requested.length;
  await page.locator("main a").click();
  await expect.poll(heading).toBe(home);
  expect(page.url()).toBe(`${server.url}/`);
  await expect.poll(focused).toBe("H1");
  await page.goBack();
  await expect.poll(heading).toBe(unknown);
  await page.goForward();
  await expect.poll(heading).toBe(home);
  await page.goBack();
  await expect.poll(heading).toBe(unknown);
  // Later imports are the product's.
  const modules = await page.evaluate(() => {
    const { entry, routes } = Reflect.get(window, "__reactRouterManifest");
    type Entry = { module: string; imports?: string[] };
    return [entry, ...Object.values<Entry>(routes)].flatMap(({ module, imports = [] }) => [module, ...imports]);
  });
  expect(modules).toContainEqual(expect.stringContaining("/assets/home-"));
  const isOfPages = (path: string) => /^\/(nope|$)/.test(path) || modules.some((module) => module.endsWith(path));
  expect(requested.slice(initial).filter(isOfPages)).toEqual([]);
  // A message comes after the view transition, if there is one.
  await expect.poll(() => consoleMessages).toEqual([DOCUMENT_IS_404, ...Array(3).fill(notFound("/nope"))]);
  consoleMessages.splice(0);
});

test.for([
  { support: "with", isNotified: true },
  { support: "without", isNotified: false },
])(
  "after a navigation, screen readers get the title and the heading: $support ariaNotify",
  async ({ isNotified }, { page, server, consoleMessages }) => {
    const titles: string[] = [];
    await page.exposeFunction("notify", (title: string) => titles.push(title));
    await page.addInitScript((isSupported) => {
      const notify = isSupported ? (title: string) => Reflect.get(window, "notify")(title) : undefined;
      Object.defineProperty(Document.prototype, "ariaNotify", { value: notify });
    }, isNotified);
    await open(page, `${server.url}/nope`);
    expect(titles).toEqual([]);
    await page.locator("main a").click();
    await page.waitForURL(`${server.url}/`);
    const isFocused = () => page.locator("h1").evaluate((heading) => heading === document.activeElement);
    await expect.poll(isFocused).toBe(true);
    await expect.poll(() => titles).toEqual(isNotified ? [await page.title()] : []);
    expect(consoleMessages.splice(0)).toEqual([DOCUMENT_IS_404, notFound("/nope")]);
  },
);

test("the route list is on window, and frozen", async ({ page, server }) => {
  await open(page, server.url);
  type Entries = typeof window.__ROUTES__;
  // With routes that are children of others, such as a layout.
  const flatten = (entries: Entries): Entries =>
    entries.flatMap(({ children = [], ...entry }) => [entry, ...flatten(children)]);
  const listed = flatten(await page.evaluate(() => window.__ROUTES__));
  expect(listed).toContainEqual({ id: "home", path: "/", index: true, file: "routes/home.tsx" });
  expect(listed).toContainEqual({ id: "404", path: "*", file: "routes/not-found.tsx" });
  const isFrozen = () => [window.__ROUTES__, ...window.__ROUTES__].every(Object.isFrozen);
  expect(await page.evaluate(isFrozen)).toBe(true);
});

test("without JavaScript the link of the not-found page leads home", async ({ browser, server }) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(`${server.url}/nope`);
  await page.locator("main a").click();
  await page.waitForURL(`${server.url}/`);
  await page.close();
});
