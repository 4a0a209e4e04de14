import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test } from "./support/fixtures.ts";

const ORIGIN = "https://www.example.org";
const { app } = await loadApp({ env: { ORIGIN } });

test.for([
  ["/sitemap.xml", "application/xml", `<loc>${ORIGIN}/</loc>`],
  ["/feed.xml", "application/atom+xml", `<link href="${ORIGIN}/" />`],
  ["/feed.xml", "application/atom+xml", "<title>Hello &#38; welcome</title>"],
  ["/robots.txt", "text/plain; charset=utf-8", `\nSitemap: ${ORIGIN}/sitemap.xml\n`],
] as const)("%s is cached, has the type %s and contains %j", async ([path, type, text], { server }) => {
  const { status, headers, body, text: sent } = await request(app).get(path).responseType("text");
  expect([status, headers["content-type"]]).toEqual([200, type]);
  expect(headers["cache-status"]).toMatch(/; hit|stored/);
  const basePath = new URL(`${server.url}/`).pathname.slice(0, -1); // Such as /app, or "".
  expect(Buffer.isBuffer(body) ? body.toString() : (sent ?? String(body))).toContain(
    text.replace(ORIGIN, ORIGIN + basePath),
  );
});

test("every address of the sitemap is a page", async ({ server }) => {
  const xml = await (await fetch(`${server.url}/sitemap.xml`)).text();
  const paths = [...xml.matchAll(/<loc>([^<]+)</g)].map(([, url = ""]) => new URL(url).pathname);
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) expect((await fetch(new URL(path, server.url))).status, path).toBe(200);
});

test.for([
  ["/sitemap.xml", "urlset"],
  ["/feed.xml", "feed"],
])("%s is an XML document with the root %s", async ([path, root], { page, server }) => {
  const xml = await (await fetch(server.url + path)).text();
  const parse = (text: string) => new DOMParser().parseFromString(text, "text/xml").documentElement.outerHTML;
  expect(await page.evaluate(parse, xml)).toMatch(new RegExp(`^<${root} (?!.*<parsererror)`, "s"));
});
