import { expect, open, test } from "./support/fixtures.ts";

test.for([
  ["de-AT, de;q=0.9, en;q=0.5", undefined, "de"],
  ["fr;q=0.5, en;q=0.9", undefined, "en"],
  ["it", undefined, "en"],
  [undefined, undefined, "en"],
  ["de", "fr", "fr"],
  ["de", "browser", "de"],
  ["de", "it", "de"],
] as const)(
  "with Accept-Language %j and the choice %j, the page is in %j",
  async ([preferred, choice, language], { server }) => {
    const headers = {
      ...(preferred && { "Accept-Language": preferred }),
      ...(choice && { Cookie: `theme=dark; language=${choice}` }),
    };
    const response = await fetch(`${server.url}/repairs`, { headers });
    const html = await response.text();
    expect(html).toContain(`<html lang="${language}"`);
    const title = { en: "Bicycles, repaired", de: "Wir reparieren Fahrräder", fr: "Vélos réparés" }[language];
    expect(html).toContain(`<title>${title}</title>`);
    expect(response.headers.get("Cache-Status")).toMatch(/; hit|stored/);
  },
);

test.for([true, false])(
  "a user chooses a language, with scripts: %s",
  async (javaScriptEnabled, { browser, server }) => {
    const page = await browser.newPage({ javaScriptEnabled, locale: "en" });
    if (javaScriptEnabled) await open(page, `${server.url}/repairs`);
    else await page.goto(`${server.url}/repairs`);
    await page.getByLabel("Language").selectOption("Deutsch");
    await page.getByRole("button", { name: "Choose" }).click();
    await page.getByRole("heading", { name: "Wir reparieren Fahrräder" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
    expect(await page.title()).toBe("Wir reparieren Fahrräder");
    expect(await page.getByRole("row").first().textContent()).toContain("38,50");

    await page.getByLabel("Sprache").selectOption("browser");
    await page.getByRole("button", { name: "Wählen" }).click();
    await page.getByRole("heading", { name: "Bicycles, repaired" }).waitFor();
    await page.close();
  },
);

test.for([
  ["de", "/repairs?a=1", 303, "/repairs?a=1"],
  ["de", "https://evil.example", 303, "/"],
  ["de", "//evil.example", 303, "/"],
  ["xx; Secure", "/repairs", 400, null],
] as const)(
  "the choice of %j at %j has status %i and leads to %j",
  async ([language, next, status, location], { server }) => {
    const body = new URLSearchParams({ language, next });
    const response = await fetch(`${server.url}/language`, { method: "POST", body, redirect: "manual" });
    // Such as /app, or "".
    const basePath = new URL(`${server.url}/`).pathname.slice(0, -1);
    expect([response.status, response.headers.get("Location")]).toEqual([status, location && basePath + location]);
    // Below a path, other sites of the origin don't get the cookie.
    if (location) expect(response.headers.get("Set-Cookie")).toContain(`Path=${basePath}/;`);
  },
);

test("pages without a language keep the default", async ({ server }) => {
  const response = await fetch(`${server.url}/nowhere`, { headers: { "Accept-Language": "de" } });
  expect(await response.text()).toContain('<html lang="en"');
});
