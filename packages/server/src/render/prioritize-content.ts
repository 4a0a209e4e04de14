/** `[^<>]*` keeps the search linear. No attribute has "<" or ">", since React escapes them. */
const MODULE_PRELOAD = /<link rel="modulepreload"([^<>]*>)/g;

/**
 * Gives scripts a low priority, since the content doesn't need them. React Router's <Scripts> can't set the priority of
 * its preloads, and preloads its entry twice if modules of routes import it.
 */
export function prioritizeContent(html: string) {
  const preloaded = new Set<string>();
  return html.replace(MODULE_PRELOAD, (link, rest) => {
    if (preloaded.has(link)) return "";
    preloaded.add(link);
    return `<link rel="modulepreload" fetchpriority="low"${rest}`;
  });
}
