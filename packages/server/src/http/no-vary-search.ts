import { parseDictionary } from "structured-headers";

/** Removes the parameters that make no difference from a query like `?a=1`. */
export type QueryFilter = (query: string) => string;

/**
 * Creates the filter that `No-Vary-Search` describes (draft-ietf-httpbis-no-vary-search-10 §3). Chromium 156 only
 * supports the earlier grammar, where `params` may be a boolean, so both are accepted. Without the header, or if it is
 * malformed, every parameter makes a difference.
 */
export function createQueryFilter(noVarySearch: string | null): QueryFilter {
  const { params, except, keyOrder } = parse(noVarySearch ?? "");
  if (!params && !except && !keyOrder) return (query) => query;
  if (except?.length === 0) return () => "";
  const isKept = (name: string) => (except ? except.includes(name) : !params?.includes(name));
  return (query) => {
    // Names and values stay as the client wrote them, so another spelling is another cache entry.
    const pairs = query
      .slice(1)
      .split("&")
      .filter((pair) => pair !== "" && isKept(nameOf(pair)));
    if (keyOrder) pairs.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : Number(nameOf(a) > nameOf(b))));
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  };
}

/** Parses the header. `except` lists the names that make a difference; all others make none. */
function parse(noVarySearch: string): { params?: string[]; except?: string[]; keyOrder?: boolean } {
  try {
    const members = parseDictionary(noVarySearch);
    const [params, except, keyOrder] = ["params", "except", "key-order"].map((key) => toValue(members.get(key)?.[0]));
    if (Array.isArray(params) && except !== undefined) return {};
    if (keyOrder !== undefined && typeof keyOrder !== "boolean") return {};
    if (except !== undefined && !Array.isArray(except)) return {};
    return {
      ...(Array.isArray(params) && { params }),
      ...((params === true || (except && params !== false)) && { except: except ?? [] }),
      ...(keyOrder && { keyOrder }),
    };
  } catch {
    return {};
  }
}

/** A boolean or a list of strings. Throws for any other type. */
function toValue(value: unknown): string[] | boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  const names = (value as unknown[][]).map(([name]) => name);
  if (names.every((name) => typeof name === "string")) return names;
  throw new TypeError("no list of strings");
}

/** The name of a parameter like `a=1`, decoded. */
export function nameOf(pair: string) {
  const [name = ""] = pair.split("=", 1);
  return /[%+]/.test(name) ? String(new URLSearchParams(name).keys().next().value) : name;
}
