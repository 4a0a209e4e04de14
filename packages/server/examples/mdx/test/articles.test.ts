import { expect, open, test } from "./support/fixtures.ts";

test("each article of the list is a cached page with a title and one heading", async ({ page, server }) => {
  await open(page, `${server.url}/articles`);
  const links = page.locator("main li a");
  const articles = await links.evaluateAll((all) =>
    all.map((link) => ({ path: link.getAttribute("href"), title: link.textContent })),
  );
  expect(articles.length).toBeGreaterThan(1);
  for (const { path, title } of articles) {
    const response = await fetch(new URL(String(path), server.url));
    expect(response.headers.get("Cache-Status")).toMatch(/; hit|stored/);
    const html = await response.text();
    expect(html).toContain(`<title>${title}</title>`);
    expect(html.match(/<h1>[^<]*/g)).toEqual([`<h1>${title}`]);
  }
});

test("an article links to another one", async ({ page, server }) => {
  await open(page, `${server.url}/articles/coffee`);
  await page.getByRole("link", { name: "read about water" }).click();
  await page.getByRole("heading", { name: "Soft water" }).waitFor();
});

test("a component in an article works", async ({ page, server }) => {
  await open(page, `${server.url}/articles/coffee`);
  await page.getByText("30 g").waitFor();
  await page.getByLabel("Water").fill("1000");
  await page.getByText("60 g", { exact: true }).waitFor();
  await page.getByRole("link", { name: "All articles" }).click();
  await page.getByRole("heading", { name: "Articles" }).waitFor();
});
