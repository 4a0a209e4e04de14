// Paths whose characters have several spellings: decomposed letters, which macOS types in file names, encoded letters, and a
// lone "%".
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, open, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";

const { app } = await loadApp({ folder: SITE });

test.for<[what: string, path: string, location: string]>([
  ["a page", "/example-pages/zoe%CC%88", "/example-pages/zo%C3%AB"],
  ["a page and a query", "/example-pages/zoe%CC%88?a=e%CC%88", "/example-pages/zo%C3%AB?a=e%CC%88"],
  ["a page in another case", "/Example-Pages/ZOE%CC%88/", "/Example-Pages/ZO%C3%8B/"],
  ["a file", "/zoe%CC%88.txt", "/zo%C3%AB.txt"],
  ["a page whose letters are encoded", "/example-pages/%74able?a", "/example-pages/table?a"],
])("%s is found at its usual path: %s redirects to %s", async ([, path, location]) => {
  for (const method of ["get", "head"] as const) {
    const { status, headers } = await request(app)[method](path);
    expect([status, headers.location]).toEqual([308, location]);
  }
  expect((await request(app).get(location)).status).toBe(200);
});

test.for<[what: string, path: string, status: number]>([
  ["a parameter keeps its spelling", "/example-pages/names/zoe%CC%88", 200],
  ["an unknown path", "/zoe%CC%88", 404],
  ["a path that begins with two slashes, which a browser would take for a host", "//example-pages/zoe%CC%88", 404],
  ["the not-found page for a lone %, since it is the same for every path", "/100%", 404],
  ["a lone % behind two slashes", "//example-pages/names/100%", 404],
  ["a file whose letters are encoded", "/%72obots.txt", 200],
  ["a file behind an encoded slash", "/assets%2fmissing.js", 404],
  ["a resource route", "/example-pages/rename/response%?to=a", 302],
])("no redirect to another spelling: %s (%s)", async ([, path, status]) => {
  const response = await request(app).get(path);
  expect([response.status, response.headers.location ?? ""]).toEqual([status, expect.not.stringMatching(/%25|%C3/)]);
});

test("a form at a path with a lone % is sent on to the action", async () => {
  const { status } = await request(app).post("/example-pages/names/100%").type("form").send({ name: "a" });
  expect(status).toBe(302);
});

test.for<[path: string, printed: string, name: string]>([
  ["/example-pages/zoe%CC%88", "/example-pages/zo%C3%AB", ""],
  ["/example-pages/names/100%", "/example-pages/names/100%25", "100%"],
  ["/example-pages/names/100%?q=%#%", "/example-pages/names/100%25", "100%"],
  ["/example-pages/names/%C3%", "/example-pages/names/%25C3%25", "%C3%"],
  ["/example-pages/cached-names/100%", "/example-pages/cached-names/100%25", "100%"],
  ["/example-pages/cached-names/100%", "/example-pages/cached-names/100%25", "100%"],
])("%s prints its path, and hydrates without an error", async ([path, printed, name], { page, server }) => {
  await open(page, server.url + path);
  expect(await page.locator("p").textContent()).toBe(printed);
  expect(await page.locator("h1").textContent()).toBe(name);
  expect(new URL(page.url()).pathname).toBe(printed);
});
