import type { ServerBuild } from "react-router";
import { expect, test } from "vitest";
import { findUncacheableReason } from "../http/cache-control.ts";
import type { PrerenderedFile } from "../locals.ts";
import { checkRoutes } from "./check-routes.ts";
import { createPages } from "./pages.ts";
import { createSecurityHeaders } from "./security-headers.ts";
import { createVariants } from "./variants.ts";

/** Starts a site with one page, whose `handle` is this. */
function start(handle: object, cacheControl = "s-maxage=60", prerendered: PrerenderedFile[] = []) {
  const module = { default: () => null, handle, headers: { "Cache-Control": cacheControl } };
  const routes = { page: { id: "page", path: "page", module } };
  const pages = createPages(
    { routes } as unknown as ServerBuild,
    [{ id: "page", file: "page.tsx" }],
    true,
    prerendered,
  );
  checkRoutes(pages, createSecurityHeaders("none", { isProduction: true }));
  return pages;
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`);

test.each([
  ["a key that is misspelt", { variant: { "Accept-Language": ["en", "de"] } }, "variant: is variants meant?"],
  [
    "a header that is misspelt",
    { variants: { "Accept-Langauge": ["en"] } },
    "variants.Accept-Langauge: must be like {",
  ],
  ["another header", { variants: { "User-Agent": ["a", "b"] } }, "variants.User-Agent: must be like {"],
  ["no header", { variants: {} }, "variants: must have 2 to 32 combinations"],
  ["text in place of headers", { variants: "de" }, "variants: must be like {"],
  ["text in place of languages", { variants: { "Accept-Language": "de" } }, "variants.Accept-Language: "],
  ["one language", { variants: { "Accept-Language": ["en"] } }, "variants: must have 2 to 32 combinations"],
  ["no value of a cookie", { variants: { Cookie: { a: [] } } }, "variants: must have 2 to 32 combinations"],
  [
    "no language tag",
    { variants: { "Accept-Language": ["en", "de;q=1"] } },
    "variants.Accept-Language.1: must be a language tag",
  ],
  ["values without a cookie", { variants: { Cookie: ["EUR", "USD"] } }, "variants.Cookie.0: "],
  ["no name of a cookie", { variants: { Cookie: { "a b": ["1", "2"] } } }, "variants.Cookie.a b: must be the name"],
  [
    "no value of a cookie",
    { variants: { Cookie: { a: ["1", "2;"] } } },
    "variants.Cookie.a.1: must be the value of a cookie",
  ],
  [
    "too many variants",
    { variants: { "Accept-Language": ["en", "de", "zh"], Cookie: { a: many(11) } } },
    "variants: must have 2 to 32 combinations",
  ],
  [
    "more variants than memory",
    { variants: { Cookie: Object.fromEntries(many(20).map((name) => [name, many(100)])) } },
    "variants: must have 2 to 32 combinations",
  ],
])("a page with %s fails the start", (_label, handle, message) => {
  expect(() => start(handle)).toThrow(`app/page.tsx: handle.${message}`);
});

test("a page that isn't cached can't have variants", () => {
  const handle = { variants: { "Accept-Language": ["en", "de"] } };
  expect(() => start(handle, "private")).toThrow("handle.variants has no effect unless headers sets s-maxage");
  expect(start(handle).routes[0]?.cacheRule?.variants?.vary).toBe("Accept-Language");
});

test("a page that the build prerenders can't have variants", () => {
  const handle = { variants: { "Accept-Language": ["en", "de"] } };
  const prerendered = { path: "/page", file: "", contentType: "text/html", inline: { scripts: [], styles: [] } };
  expect(() => start(handle, undefined, [prerendered])).toThrow(
    "app/page.tsx: handle.variants: prerender makes one page",
  );
});

test("each combination of values is a variant, and the first is the default", () => {
  const { vary, headers, choose } = createVariants({
    Cookie: { theme: ["light", "dark"], currency: ["EUR", "USD"] },
    "Accept-Language": ["en", "de"],
  });
  expect(vary).toBe("Accept-Language, Cookie");
  expect(headers.size).toBe(8);
  const [first, second] = [...headers];
  expect(first?.[0]).toBe(choose({}));
  expect(first?.[1]).toEqual({ "accept-language": "en", cookie: "theme=light; currency=EUR" });
  expect(second?.[1]).toEqual({ "accept-language": "en", cookie: "theme=light; currency=USD" });
  const chosen = choose({ "accept-language": "de-CH", cookie: "a=b;currency=USD;theme=dark" });
  expect(chosen).toBe("Accept-Language=de&theme=dark&currency=USD");
  expect(headers.get(chosen)).toEqual({ "accept-language": "de", cookie: "theme=dark; currency=USD" });
});

test.each([
  ["Accept-Language", "", "Vary: Accept-Language"],
  ["Accept-Encoding", "", undefined],
  ["accept-language,Accept-Encoding", "Accept-Language", undefined],
  ["Cookie, Accept-Language", "Accept-Language", "Vary: Cookie, Accept-Language"],
  ["*", "Accept-Language", "Vary: *"],
  ["", "", undefined],
])(
  "the reason a response with Vary: %s isn't cacheable, as a page that varies by %j, is %j",
  (vary, varied, reason) => {
    const headers = new Headers({ Vary: vary, "Cache-Control": "s-maxage=60" });
    expect(findUncacheableReason(200, headers, varied)).toBe(reason);
  },
);
