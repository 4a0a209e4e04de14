/** What the document at a URL shows, as HTML: for tests that recognise a page without its words. */
export async function readMain(url: string) {
  const html = await (await fetch(url)).text();
  return /<main.*<\/main>/s.exec(html)?.[0];
}
