/** The HTML of the main element at a URL. Tests recognise a page by it, whatever its text. */
export async function readMain(url: string) {
  const html = await (await fetch(url)).text();
  return /<main.*<\/main>/s.exec(html)?.[0];
}
