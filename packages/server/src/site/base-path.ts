/** A path of plain segments that begins and ends in a slash. */
const PATH = /^\/([\w-][\w.~-]*\/)*$/;
/** The directives that assets need. Not `manifest-src`: a manifest at another origin can't have the site's start page. */
const ASSET_DIRECTIVES = ["script-src", "style-src", "connect-src", "font-src", "img-src", "media-src"];

/** Where the site is. */
export type Base = {
  /** The path of all of its URLs: "/", or such as "/app/". */
  path: string;
  /** The origin of its assets, if they have another one, such as a CDN's. */
  assetsOrigin?: string | undefined;
};

export const ROOT: Base = { path: "/" };

/**
 * Reads React Router's `basename` and Vite's `base`. Throws unless they are the same path, or `base` is a URL: otherwise
 * pages would link to assets that are outside the path.
 */
export function parseBase(basename = "/", base = basename): Base {
  checkBasename(basename);
  const isUrl = /^https?:\/\/.*\/$/.test(base) && URL.canParse(base);
  if (base !== basename && !isUrl) {
    throw new Error(`base "${base}" of vite.config.ts: must be "${basename}", as basename, or a URL that ends in "/"`);
  }
  return { path: basename, assetsOrigin: isUrl ? new URL(base).origin : undefined };
}

export function checkBasename(basename: string) {
  if (!PATH.test(basename)) throw new Error(`basename "${basename}": must begin and end in "/", such as "/app/"`);
}

/** The additions to every page's policy. */
export function policyOfAssets({ assetsOrigin }: Base) {
  return assetsOrigin ? ASSET_DIRECTIVES.map((directive) => `${directive} ${assetsOrigin}`).join("; ") : "";
}

/** The URL path of a path of the site, such as a route's. */
export function toUrlPath({ path }: Base, sitePath: string) {
  return path.slice(0, -1) + sitePath;
}

/**
 * The path of the site, such as a route's, of a URL path. Undefined if the URL path is outside the site. Matches in any
 * case, as React Router does, and without the last slash.
 */
export function toSitePath({ path }: Base, urlPath: string) {
  if (path === "/") return urlPath;
  const start = path.slice(0, -1);
  const isInside = `${urlPath}/`.toLowerCase().startsWith(path.toLowerCase());
  return isInside ? urlPath.slice(start.length) || "/" : undefined;
}
