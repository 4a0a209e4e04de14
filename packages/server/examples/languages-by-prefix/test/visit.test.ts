import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, open, test } from "./support/fixtures.ts";

const ORIGIN = "https://www.example.org";
const { app } = await loadApp({ env: { ORIGIN } });

/** Such as /app, or "". */
const toBasePath = (url: string) => new URL(`${url}/`).pathname.slice(0, -1);

test.for([
  ["en", "Visit us"],
  ["de", "Besuchen Sie uns"],
] as const)(
  "/%s/visit is cached, with the title %j and a link to each language",
  async ([language, title], { server }) => {
    const { status, headers, text } = await request(app).get(`/${language}/visit`);
    expect([status, headers["cache-status"]]).toEqual([200, expect.stringMatching(/; hit|stored/)]);
    expect(text).toContain(`<html lang="${language}"`);
    expect(text).toContain(`<title>${title}</title>`);
    const head = text.slice(0, text.indexOf("</head>"));
    const links = [...head.matchAll(/<link rel="alternate" hrefLang="([^"]+)" href="([^"]+)"/gi)].map(
      ([, ...all]) => all,
    );
    const base = ORIGIN + toBasePath(server.url);
    expect(links).toEqual([
      ["en", `${base}/en/visit`],
      ["de", `${base}/de/visit`],
      ["x-default", `${base}/visit`],
    ]);
  },
);

test.for([
  ["de-AT, de;q=0.9, en;q=0.5", "/de/visit?a=1"],
  ["fr, en;q=0.9, de;q=0.5", "/en/visit?a=1"],
  ["it", "/en/visit?a=1"],
  ["", "/en/visit?a=1"],
] as const)("with Accept-Language %j, /visit redirects to %s", async ([preferred, location], { server }) => {
  const { status, headers } = await request(app).get("/visit?a=1").set("Accept-Language", preferred);
  expect([status, headers.location]).toEqual([302, toBasePath(server.url) + location]);
  expect(headers.vary).toContain("Accept-Language");
});

test("below /de, the not-found page is in German", async () => {
  const { status, text } = await request(app).get("/de/nowhere");
  expect(status).toBe(404);
  expect(text).toContain('<html lang="de"');
  expect(text).toContain("<title>Diese Seite gibt es nicht</title>");
});

test("a user changes the language by a link, and the document's language follows", async ({ page, server }) => {
  await open(page, `${server.url}/en/visit`);
  await page.getByRole("link", { name: "Deutsch" }).click();
  await page.getByRole("heading", { name: "Besuchen Sie uns" }).waitFor();
  expect(page.url()).toBe(`${server.url}/de/visit`);
  expect(await page.locator("html").getAttribute("lang")).toBe("de");
  expect(await page.title()).toBe("Besuchen Sie uns");
});
