/** `[^<>]*` keeps the search linear. No attribute has "<" or ">", since React escapes them. */
const MODULE_PRELOAD = /<link rel="modulepreload"[^<>]*>/g;

/** Begins the scripts that React Router's <Scripts> renders. */
const SCRIPTS = "window.__reactRouterContext";

/**
 * Gives scripts a low priority, since the content doesn't need them. The manifest comes last: React Router preloads it
 * first, and with HTTP/1.1 the large file of its entry would then wait for a second connection. <Scripts> has no
 * options for this, and preloads the entry twice if modules of routes import it. Throws if React Router's HTML has
 * changed.
 */
export function prioritizeContent(html: string) {
  const [manifest = "", ...modules] = new Set(html.match(MODULE_PRELOAD));
  if (!manifest && html.includes(SCRIPTS)) throw new Error("<Scripts> preloads no module: adapt prioritize-content.ts");
  const links = [...modules, manifest].join("").replaceAll("<link ", '<link fetchpriority="low" ');
  const start = html.search(MODULE_PRELOAD);
  const others = html.replace(MODULE_PRELOAD, "");
  return others.slice(0, start) + links + others.slice(start);
}
