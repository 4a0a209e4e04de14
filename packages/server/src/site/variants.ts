import type { IncomingHttpHeaders } from "node:http";
import Negotiator from "negotiator";
import type { RouteEntry, Variants } from "../locals.ts";
import type { Handle } from "../pages/handle.ts";

/** The longest Accept-Language that is read, since parsing takes time. Browsers send about 50 characters. */
const MAX_ACCEPT_LENGTH = 256;

/** A language or a cookie that a page differs by. */
type Dimension = {
  header: "Accept-Language" | "Cookie";
  /** The header's name, or the cookie's. */
  name: string;
  values: string[];
  /** The value that a client asks for. Undefined if the page hasn't any. */
  find: (headers: IncomingHttpHeaders) => string | undefined;
};

type Variant = { key: string; headers: Record<string, string> };

/** Creates the variants of a cached page from its `handle.variants`. */
export function createVariants({
  "Accept-Language": languages,
  Cookie: cookies = {},
}: NonNullable<Handle["variants"]>): Variants {
  const dimensions = [
    ...(languages ? [byLanguage(languages)] : []),
    ...Object.entries(cookies).map(([name, values]) => byCookie(name, values)),
  ];
  let all: Variant[] = [{ key: "", headers: {} }];
  for (const dimension of dimensions) {
    all = all.flatMap((variant) => dimension.values.map((value) => add(variant, dimension, value)));
  }
  const names = new Set(dimensions.map(({ header }) => header));
  return {
    vary: [...names].join(", "),
    headers: new Map(all.map(({ key, headers }) => [key, headers])),
    choose: (headers) => dimensions.map(({ name, values, find }) => toPair(name, find(headers) ?? values[0])).join("&"),
    isForSharedCaches: ({ headers, headersDistinct }) =>
      !names.has("Cookie") && headers["accept-language"] === headersDistinct["accept-language"]?.join(", "),
  };
}

/** The cache keys of a route without parameters: one for each variant. */
export function listCacheKeys({ cacheKey, pattern, cacheRule }: RouteEntry) {
  const path = cacheKey ?? pattern;
  const { variants } = cacheRule ?? {};
  return variants ? [...variants.headers.keys()].map((variant) => `${path}#${variant}`) : [path];
}

const toPair = (name: string, value = "") => `${name}=${value}`;

function add({ key, headers }: Variant, { header, name }: Dimension, value: string): Variant {
  const field = header.toLowerCase();
  const text = header === "Cookie" ? toPair(name, value) : value;
  return {
    key: key ? `${key}&${toPair(name, value)}` : toPair(name, value),
    headers: { ...headers, [field]: headers[field] === undefined ? text : `${headers[field]}; ${text}` },
  };
}

function byLanguage(values: string[]): Dimension {
  const name = "Accept-Language";
  return {
    header: name,
    name,
    values,
    find: (headers) =>
      (headers["accept-language"] ?? "").length > MAX_ACCEPT_LENGTH
        ? undefined
        : new Negotiator({ headers }).languages(values)[0],
  };
}

function byCookie(name: string, values: string[]): Dimension {
  const pattern = new RegExp(`(?:^|;) *${name}=([^; ]*)`);
  return {
    header: "Cookie",
    name,
    values,
    find({ cookie = "" }) {
      const value = pattern.exec(cookie)?.[1];
      return values.find((known) => known === value);
    },
  };
}
