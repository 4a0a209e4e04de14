import { expect, open, test } from "./support/fixtures.ts";

test.for([
  ["/books", 200, "22 books"],
  ["/books?page=3", 200, "Page 3 of 3"],
  ["/books?q=woolf", 200, "2 books for “woolf”"],
  ["/books?q=WOOLF+orlando", 200, "1 book for “WOOLF orlando”"],
  ["/books?q=%3Cb%3E", 200, "No books for “&lt;b&gt;”"],
  ["/books?page=4", 404, "Page not found"],
  ["/books?page=0", 404, "Page not found"],
  ["/books?page=one", 404, "Page not found"],
] as const)("%s has status %i and shows %j", async ([path, status, text], { server }) => {
  const response = await fetch(server.url + path);
  expect(response.status).toBe(status);
  // React separates two texts by a comment.
  expect((await response.text()).replaceAll("<!-- -->", "")).toContain(text);
});

test.for([true, false])("search and pages work with scripts: %s", async (javaScriptEnabled, { browser, server }) => {
  const page = await browser.newPage({ javaScriptEnabled });
  if (javaScriptEnabled) await open(page, `${server.url}/books?page=2`);
  else await page.goto(`${server.url}/books?page=2`);
  await page.getByRole("searchbox").fill("j");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("for “j”").waitFor();
  expect(new URL(page.url()).search).toBe("?q=j");
  await page.getByRole("link", { name: "Show all books" }).click();
  await page.getByRole("link", { name: "Next" }).click();
  await page.getByText("Page 2 of 3").waitFor();
  expect(await page.getByRole("row").nth(1).textContent()).toContain("Middlemarch");
  await page.goBack();
  await page.getByText("Page 1 of 3").waitFor();
  await page.goBack();
  await page.getByText("for “j”").waitFor();
  expect(await page.getByRole("searchbox").inputValue()).toBe("j");
  await page.close();
});
