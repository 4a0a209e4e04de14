// A site below a path, behind nginx (Debian's package nginx-light).
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { keepViolations, startServer } from "react-router-express-server/testing";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { test as base, expect, open } from "./support/fixtures.ts";
import { startNginx } from "./support/nginx.ts";
import { startDevelopment } from "./support/start-development.ts";

const test = base.extend("below", { scope: "file" }, async ({ browser: _ }, { onCleanup }) => {
  const folder = copySite();
  for (const [name, start, line] of [
    ["react-router.config.ts", "export default {", 'basename: "/app/",'],
    ["vite.config.ts", "defineConfig({", 'base: "/app/",'],
  ] as const) {
    const text = readFileSync(`${folder}/${name}`, "utf8");
    writeFileSync(`${folder}/${name}`, text.replace(start, `${start}\n  ${line}`));
  }
  await build(folder);
  const server = await startServer({}, folder);
  onCleanup(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  return { ...server, folder };
});

// Vite's, in development.
test.override("ignoredMessages", () => /^(debug|info): (?!.*Content Security Policy)/s);

/** The lines of nginx. Every other path gets a 204, as from another site of the origin. */
const forward = (location: string) => `location /app/ { ${location} } return 204;`;

test.for([
  { how: "keeps the path", location: (origin: string) => `proxy_pass ${origin};` },
  { how: "strips the path, and adds it again", location: (origin: string) => `proxy_pass ${origin}/app/;` },
])("behind a proxy that $how, pages hydrate, forms send, and paths stay as they are", async (row, { page, below }) => {
  const nginx = await startNginx("", forward(row.location(new URL(below.url).origin)));
  const url = `${nginx.url}/app`;
  try {
    await keepViolations(page);
    await open(page, `${url}/example-pages/sign-up`);
    await page.evaluate(() => window.__reactRouterDataRouter.navigate("/example-pages/names/Ada"));
    await expect.poll(() => page.url()).toBe(`${url}/example-pages/names/Ada`);
    await page.getByRole("textbox").fill("Bob");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "Bob" }).waitFor();
    expect(page.url()).toBe(`${url}/example-pages/names/Bob`);
    expect(await page.evaluate(() => window.violations)).toEqual([]);
    const paths = { "/": 200, "/example-pages/about": 200, "/favicon.ico": 200, "/nowhere": 404 };
    for (const [path, status] of Object.entries(paths)) expect((await fetch(url + path)).status, path).toBe(status);
    const report = { method: "POST", headers: { "Content-Type": "application/reports+json" }, body: "[]" };
    expect((await fetch(`${url}/browser-reports`, report)).status).toBe(204);
    const redirect = await fetch(`${url}/example-pages/zoe%CC%88`, { redirect: "manual" });
    expect([redirect.status, redirect.headers.get("Location")]).toEqual([308, "/app/example-pages/zo%C3%AB"]);
    const signIn = await fetch(`${url}/example-pages/account?tab=2`, { redirect: "manual" });
    const next = encodeURIComponent("/example-pages/account?tab=2");
    expect([signIn.status, signIn.headers.get("Location")]).toEqual([302, `/app/example-pages/sign-in?next=${next}`]);
  } finally {
    await nginx.stop();
  }
});

test("behind a proxy that strips the path, every request gets 404", async ({ below }) => {
  const nginx = await startNginx("", forward(`proxy_pass ${new URL(below.url).origin}/;`));
  for (const path of ["/app/", "/app/example-pages/about", "/app/favicon.ico"]) {
    const response = await fetch(nginx.url + path);
    expect([response.status, await response.text()]).toEqual([404, "Not Found\n"]);
  }
  await nginx.stop();
});

test("in development, too, pages hydrate below the path", async ({ page, below, onTestFinished }) => {
  const { url } = await startDevelopment(below.folder, onTestFinished);
  await open(page, `${url}/app/example-pages/names/Ada`);
  await page.getByRole("textbox").fill("Bob");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: "Bob" }).waitFor();
  expect(page.url()).toBe(`${url}/app/example-pages/names/Bob`);
});
