import type { Page } from "playwright-core";

/** An element at a URL, as a browser writes its HTML. Tests recognise a page by it, whatever its text. */
export async function readHtml(page: Page, url: string, selector: string) {
  const html = await (await fetch(url)).text();
  return await page.evaluate(
    ([text, selector]) => new DOMParser().parseFromString(text, "text/html").querySelector(selector)?.outerHTML,
    [html, selector] as const,
  );
}
