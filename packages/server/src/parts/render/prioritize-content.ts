import { ChangedHtmlError } from "../../site/changed-html-error.ts";

/** `[^<>]*` keeps the search linear. No attribute has "<" or ">", since React escapes them. */
const MODULE_PRELOAD = /<link rel="modulepreload"[^<>]*>/g;

/**
 * Gives scripts a low priority, since the content doesn't need them. The manifest comes last: React Router preloads it
 * first, and with HTTP/1.1 the large file of its entry would then wait for a second connection. <Scripts> has no
 * options for this, and preloads the entry twice if modules of routes import it. `entry` and `manifest` are their URLs, which
 * each document with <Scripts> has. Throws if React Router's HTML has changed.
 */
export function prioritizeContent(html: string, entry: string, manifest: string) {
  const links = [...new Set(html.match(MODULE_PRELOAD))];
  const last = links.find((link) => link.includes(`"${manifest}"`));
  if (!last && html.includes(entry)) {
    throw new ChangedHtmlError(
      "the server can't edit the preloads that <Scripts> of this react-router renders: install an earlier react-router, or a later react-router-express-server",
    );
  }
  const ordered = [...links.filter((link) => link !== last), last];
  const preloads = ordered.join("").replaceAll("<link ", '<link fetchpriority="low" ');
  const start = html.search(MODULE_PRELOAD);
  const others = html.replace(MODULE_PRELOAD, "");
  return others.slice(0, start) + preloads + others.slice(start);
}
