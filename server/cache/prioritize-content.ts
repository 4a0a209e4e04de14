/** React escapes "<" in attributes. A search that stops at it takes linear time. */
const MODULE_PRELOAD = /<link rel="modulepreload"([^<>]*>)/g;

/**
 * Nothing that a page shows waits for its scripts, so they may come after all that does. Browsers load preloads with
 * high priority unless told otherwise, which React Router's <Scripts> can't; and it names its entry twice, where
 * modules of routes import it.
 */
export function prioritizeContent(html: string) {
  const preloaded = new Set<string>();
  return html.replace(MODULE_PRELOAD, (link, rest) => {
    if (preloaded.has(link)) return "";
    preloaded.add(link);
    return `<link rel="modulepreload" fetchpriority="low"${rest}`;
  });
}
