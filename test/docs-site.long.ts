// The docs site, below a path and with the repository's address, as the workflow builds it.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll } from "vitest";
import { expect, test } from "./support/fixtures.ts";

const SOURCE = "https://github.example/us/site";
const ENV = { ...process.env, BASE_PATH: "/docs", SOURCE, PORT: "0", NO_COLOR: "1" };
const PATHS = ["/", "/docs/growing-up.html", "/CONTRIBUTING.html"];

let url = "";
let server: ReturnType<typeof spawn>;
let exited: Promise<unknown> | undefined;

beforeAll(async () => {
  await promisify(execFile)("npm", ["run", "docs:build"], { env: ENV });
  server = spawn(process.execPath, ["tools/docs/serve.js"], { env: ENV, stdio: ["ignore", "pipe", "inherit"] });
  exited = once(server, "exit");
  for await (const line of server.stdout ?? []) {
    url = /http:\/\/127\.0\.0\.1:\d+\/docs(?=\/)/.exec(String(line))?.[0] ?? "";
    if (url) break;
  }
}, 600_000);

afterAll(async () => {
  server?.kill();
  await exited;
});

/** The HTML of the pages that the first page leads to, and what each links to or shows. */
async function crawl() {
  const pages = new Map<string, string>();
  const links = new Set<string>();
  const queue = [`${url}/`];
  for (const address of queue) {
    const response = await fetch(address);
    const isPage = response.headers.get("content-type")?.startsWith("text/html") ?? false;
    const html = await response.text();
    expect.soft(response.status, address).toBe(200);
    if (!isPage) continue;
    pages.set(address, html);
    for (const [, link = ""] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      const { href } = new URL(link.replaceAll("&amp;", "&"), address);
      const [target = ""] = href.split("#");
      links.add(href);
      if (target.startsWith(url) && !queue.includes(target)) queue.push(target);
    }
  }
  return { pages, links: [...links] };
}

test("each link, anchor and picture of the docs site leads somewhere", async () => {
  const { pages, links } = await crawl();
  const built = readdirSync("tools/docs/build", { recursive: true, encoding: "utf8" });
  expect(pages.size).toBe(built.filter((name) => name.endsWith(".html") && name !== "404.html").length);
  const isDead = (link: string) => {
    const [target = "", anchor] = link.split("#");
    if (target.startsWith(SOURCE)) {
      const [, path = ""] = /\/(?:blob|tree|edit)\/main\/(.*)/.exec(target) ?? [];
      return !existsSync(path || ".");
    }
    return anchor && pages.has(target) && !pages.get(target)?.includes(` id="${decodeURI(anchor)}"`);
  };
  expect(links.filter(isDead)).toEqual([]);
  // The code of the site, such as server.ts.
  expect(links).toContain(`${SOURCE}/blob/main/server.ts`);
});

const SCREENS = [375, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);

test.for(SCREENS)("on $width pixels, $colorScheme, nothing is cut off", async ({ width, colorScheme }, { page }) => {
  const others: string[] = [];
  page.on("request", (request) => void (request.url().startsWith(url) || others.push(request.url())));
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme });
  for (const path of PATHS) {
    await page.goto(url + path, { waitUntil: "networkidle" });
    const { scrollWidth, isDark, pictures } = await page.evaluate(() => ({
      scrollWidth: document.documentElement.scrollWidth,
      isDark: document.documentElement.classList.contains("dark"),
      pictures: [...document.images].map((image) => image.naturalWidth),
    }));
    expect({ scrollWidth, isDark }, path).toEqual({ scrollWidth: width, isDark: colorScheme === "dark" });
    expect(pictures, path).not.toContain(0);
  }
  expect(others).toEqual([]);
});

// The page is the engine's. A product may have a packed engine.
test.skipIf(!existsSync("packages/server"))("the search finds a word", async ({ page }) => {
  await page.goto(`${url}/`);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill("invalidate");
  await page.getByRole("option", { name: "Caching > Show an edit at once" }).click();
  await page.waitForURL(`${url}/packages/server/docs/caching.html#show-an-edit-at-once`);
});
