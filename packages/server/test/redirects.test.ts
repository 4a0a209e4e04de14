// Redirects to paths with characters beyond ASCII: a Location is percent-encoded.
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { onTestFinished } from "vitest";
import { expect, open, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";

const PAGE = "/example-pages/names/a";
const NAMES = ["Zoë", "你好", "👋", "Zoe\u0308", "Zo%C3%AB", "a b?c=ü#ä"];

const { app } = await loadApp({ folder: SITE });

const toLocation = (name: string) => `/example-pages/names/${encodeURI(name).replaceAll("%25", "%")}`;
/** React Router normalizes the space of a path. */
const expectLocation = (headers: Record<string, string>, name: string) =>
  expect(headers.location?.replaceAll(" ", "%20")).toBe(toLocation(name));

test.for(NAMES)("a loader redirects to %s", async (name) => {
  const { status, headers } = await request(app).get(`${PAGE}?to=${encodeURIComponent(name)}`);
  expect(status).toBe(302);
  expectLocation(headers, name);
});

test.for(NAMES)("an action redirects to %s", async (name) => {
  const { status, headers } = await request(app).post(PAGE).type("form").send({ name });
  expect(status).toBe(302);
  expectLocation(headers, name);
});

test.for(["redirect", "replace", "document"].flatMap((how) => NAMES.map((name) => [how, name] as const)))(
  "a resource route redirects (%s) to %s",
  async ([how, name]) => {
    const { status, headers } = await request(app).get(`/example-pages/rename/${how}?to=${encodeURIComponent(name)}`);
    expect(status).toBe(how === "redirect" ? 303 : 302);
    expectLocation(headers, name);
  },
);

test("the Location of a Response with Latin letters is encoded", async () => {
  const { headers } = await request(app).get("/example-pages/rename/response?to=Zo%C3%AB");
  expectLocation(headers, "Zoë");
});

test("the Location that the server behind a proxy sends in UTF-8 is encoded", async () => {
  const { headers } = await request(app).get(`/example-pages/rename/response?to=${encodeURIComponent("Zo\xc3\xab")}`);
  expectLocation(headers, "Zoë");
});

test.for([
  ["moved", 301],
  ["gone", 308],
])("a cached redirect (%s) has an encoded Location", async ([name, status]) => {
  for (const cacheStatus of [/stored/, /hit/]) {
    const response = await request(app).get(`/example-pages/cached-names/${name}`);
    expect([response.status, response.headers["cache-status"]]).toEqual([status, expect.stringMatching(cacheStatus)]);
    expectLocation(response.headers, "Zoë");
  }
});

test("another header with characters beyond Latin-1 is a 500, and the log has the reason", async () => {
  const { app, lines } = await loadApp({ folder: SITE });
  expect((await request(app).get(`/example-pages/response?x-name=${encodeURIComponent("你")}`)).status).toBe(500);
  const errors = lines.filter(({ level }) => level === 50);
  expect(JSON.stringify(errors)).toMatch(/Cannot convert argument to a ByteString.*response/);
  expect(errors).toHaveLength(1);
});

test.for(["Zoë", "你好"])(
  "a form leads to the page of %s, with scripts and without",
  async (name, { page, browser, server }) => {
    const withoutScripts = await browser.newPage({ javaScriptEnabled: false });
    onTestFinished(() => withoutScripts.close());
    await open(page, server.url + PAGE);
    await withoutScripts.goto(server.url + PAGE);
    for (const tab of [page, withoutScripts]) {
      await tab.getByLabel("Name").fill(name);
      await tab.getByRole("button").click();
      await tab.getByRole("heading", { name, exact: true }).waitFor();
      expect(new URL(tab.url()).pathname).toBe(toLocation(name));
    }
  },
);
