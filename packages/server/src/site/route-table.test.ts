import fc from "fast-check";
import { matchRoutes, type RouteObject, type ServerBuild } from "react-router";
import { expect, test, vi } from "vitest";
import { keepsSegments, parseRequestTarget } from "../http/request-target.ts";
import { createBranchBuild } from "../parts/render/route-handlers.ts";
import { checkRoutes } from "./check-routes.ts";
import { createPages } from "./pages.ts";
import { toTree } from "./route-entry.ts";
import { createRouteTable } from "./route-table.ts";
import { createSecurityHeaders } from "./security-headers.ts";

/** The routes as the framework's build lists them. */
function toManifest(tree: RouteObject[], parentId?: string): ServerBuild["routes"] {
  const entries = tree.flatMap((route) => [
    [route.id, { ...route, children: undefined, parentId, module: { default: () => null, handle: route.handle } }],
    ...Object.entries(toManifest(route.children ?? [], route.id)),
  ]);
  return Object.fromEntries(entries);
}

const SPLAT = { id: "404", path: "*" };

const TREES: Record<string, RouteObject[]> = {
  "the pages that ship": [{ id: "root", path: "", children: [{ id: "home", index: true }, SPLAT] }],
  "pages and parameters": [
    {
      id: "root",
      path: "",
      children: [
        { id: "home", path: "/", index: true },
        { id: "about", path: "about" },
        { id: "new", path: "items/new" },
        { id: "item", path: "items/:id" },
        { id: "part", path: "items/:id/parts/:part" },
        SPLAT,
      ],
    },
  ],
  "a nested layout": [
    {
      id: "root",
      path: "",
      children: [
        { id: "home", index: true },
        {
          id: "shop",
          path: "items",
          children: [
            { id: "items", index: true },
            { id: "item", path: ":id" },
            { id: "new", path: "new" },
          ],
        },
        { id: "frame", children: [{ id: "about", path: "about" }] },
        SPLAT,
      ],
    },
  ],
  "a nested splat": [
    {
      id: "root",
      path: "",
      children: [
        { id: "home", index: true },
        { id: "files", path: "items/*" },
        { id: "about", path: "about", children: [{ id: "rest", path: "*" }] },
        SPLAT,
      ],
    },
  ],
  "optional segments": [
    {
      id: "root",
      path: "",
      children: [
        { id: "home", index: true },
        { id: "language", path: ":language?/about" },
        { id: "item", path: "items/:id?" },
        { id: "new", path: "new?/items" },
        SPLAT,
      ],
    },
  ],
  "a first segment that is a parameter": [
    { id: "root", path: "", children: [{ id: "any", path: ":any" }, { id: "about", path: "about" }, SPLAT] },
  ],
  "parameters with a suffix": [
    {
      id: "root",
      path: "",
      children: [{ id: "file", path: "items/:name.xml" }, { id: "item", path: "items/:id" }, SPLAT],
    },
  ],
  "letters that differ in case": [
    {
      id: "root",
      path: "",
      children: [{ id: "about", path: "About", caseSensitive: true }, { id: "new", path: "NEW" }, SPLAT],
    },
  ],
  "letters beyond ASCII": [
    { id: "root", path: "", children: [{ id: "hello", path: "héllo" }, { id: "about", path: "über/:id" }, SPLAT] },
  ],
  "no splat": [
    {
      id: "root",
      path: "",
      children: [
        { id: "home", index: true },
        { id: "item", path: "items/:id" },
      ],
    },
  ],
};

const KNOWN = "items about new parts About NEW ITEMS 1 en %61bout %C3%BCber h%C3%A9llo items%2Fnew a.xml".split(" ");
const ODD = ["", ".", "..", "%2F", "%2f", "%25", "%", "%E0%A4%A", "%0a", "%E2%80%A8"];
const PUNCTUATION = [..."abZ09:*+.()[]{}|^$\\~!@&=,;'\"<>"];

const segment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...KNOWN) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...PUNCTUATION) }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 3 }).map(encodeURIComponent) },
);
const path = fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join("/")}`);

/** The path that the server looks up when a client requests one. */
const parsed = (path: string) => parseRequestTarget(path)?.path as string;

test.each(Object.entries(TREES))(
  "%s: findRoute agrees with matchRoutes, and so does its branch; paths without a match, or that the URL parser changes, get the splat",
  (_name, tree) => {
    // matchRoutes warns of malformed escapes, and matches the path unchanged.
    vi.spyOn(console, "warn").mockReturnValue();
    const manifest = toManifest(tree);
    const { findRoute } = createRouteTable(manifest, true);
    const build = { routes: manifest, assets: { routes: {} } } as ServerBuild;
    const splat = tree[0]?.children?.includes(SPLAT) ? SPLAT.id : undefined;
    fc.assert(
      fc.property(path, (path) => {
        const found = keepsSegments(path) ? matchRoutes(tree, { pathname: path })?.at(-1)?.route.id : undefined;
        expect(findRoute(parsed(path))?.route.id).toBe(found ?? splat);
        if (!found) return;
        const branch = toTree(createBranchBuild(build, found).routes, true);
        expect(matchRoutes(branch, { pathname: path })?.at(-1)?.route.id).toBe(found);
      }),
      { numRuns: 2000 },
    );
  },
);

test("the canonical path of a route with a cache key is that key", () => {
  const module = { default: () => null, handle: { cacheKey: "/404" } };
  const { findRoute } = createRouteTable({ page: { id: "page", path: "docs/*", module } }, true);
  for (const path of ["/docs/a", "/docs/b/c", "/DOCS/"]) expect(findRoute(path)?.canonicalPath).toBe("/404");
});

test.each([
  ["posts/:slug", "/posts/a", ["/posts/a/", "/POSTS/%61", "/posts/a//"], ["/posts/A", "/posts/:slug", "/posts/:SLUG"]],
  ["posts/:slug", "/posts/:slug", ["/Posts/%3aslug"], ["/posts/:SLUG"]],
  ["docs/*", "/docs/a/B", ["/DOCS/%61/B"], ["/docs/a/b", "/docs/a/B/", "/docs/a//B"]],
  ["a?/b/*", "/b/b/x", ["/b/%62/x"], ["/b/B/x", "/b/b/x/"]],
  [":language?/about", "/en/about", ["/en/about/"], ["/EN/about", "/about"]],
])("%s: %s has the same canonical path as %j, but not as %j", (pattern, path, equal, other) => {
  const module = { default: () => null };
  const { findRoute } = createRouteTable({ page: { id: "page", path: pattern, module } }, true);
  const canonical = (path: string) => findRoute(path)?.canonicalPath;
  expect(equal.map(canonical)).toEqual(equal.map(() => canonical(path)));
  expect(other.map(canonical)).not.toContain(canonical(path));
});

/** A path that is eight times as long takes 8 times as long, and 64 times if the time were quadratic. */
const MAX_RATIO = 24;
const REPEATED = ["/a", "/", "/.", "/%25", "/%", "/%0a", "/items/1", "/about/", "/items%2F", "/a.data"];

test.each(Object.entries(TREES))("%s: finding a route takes time in proportion to the path's length", (_name, tree) => {
  const { findRoute } = createRouteTable(toManifest(tree), true);
  for (const part of REPEATED) {
    const short = part.repeat(2000 / part.length);
    const long = part.repeat(16_000 / part.length);
    // Even on a busy machine, the shortest of many runs is one that nothing interrupts.
    let [shortTime, longTime] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let run = 0; run < 20 || (run < 500 && longTime / shortTime >= MAX_RATIO); run++) {
      shortTime = Math.min(shortTime, measure(short));
      longTime = Math.min(longTime, measure(long));
    }
    expect(longTime / shortTime, `${part} repeated`).toBeLessThan(MAX_RATIO);
  }

  function measure(path: string) {
    const startedAt = performance.now();
    findRoute(parsed(path));
    return performance.now() - startedAt;
  }
});

test("a route adds to the security headers of its layouts", () => {
  const shop = { "Content-Security-Policy": "img-src data:", "Permissions-Policy": "camera=*" };
  const checkout = {
    "Content-Security-Policy": "frame-src https://a.example",
    "Permissions-Policy": "payment=(self)",
    "Cross-Origin-Opener-Policy": "unsafe-none",
  };
  const withHeaders = (path: string, securityHeaders: object, children?: RouteObject[]) =>
    ({ id: path, path, handle: { securityHeaders }, children }) as RouteObject;
  const { findRoute } = createRouteTable(
    toManifest([withHeaders("shop", shop, [withHeaders("checkout", checkout)])]),
    true,
  );
  expect(findRoute("/shop")?.route.addedHeaders).toEqual(shop);
  expect(findRoute("/shop/checkout")?.route.addedHeaders).toEqual({
    "Content-Security-Policy": "img-src data:; frame-src https://a.example",
    "Permissions-Policy": "camera=*, payment=(self)",
    "Cross-Origin-Opener-Policy": "unsafe-none",
  });
});

test("below a path, a route is found at the path of its URL, whose canonical spelling begins with the path", () => {
  const module = { default: () => null, loader: () => null };
  const home = { id: "home", path: undefined, index: true, module };
  const page = { id: "page", path: "docs/:name", module };
  const { findRoute } = createRouteTable({ home, page } as never, true, { path: "/app/" });
  const find = (path: string) => {
    const { route, canonicalPath } = findRoute(path) ?? {};
    return [route?.id, canonicalPath];
  };
  expect(find("/app/")).toEqual(["home", "/app/"]);
  expect(find("/app")).toEqual(["home", "/app/"]);
  expect(find("/app/_.data")).toEqual(["home", "/app/_.data"]);
  expect(find("/APP/Docs/a/")).toEqual(["page", "/app/docs/a"]);
  expect(find("/app/docs/a.data")).toEqual(["page", "/app/docs/a.data"]);
  for (const path of ["/", "/docs/a", "/app.data", "/application"]) expect(find(path)).toEqual([undefined, undefined]);
});

test("an index route has its parent's action, and a resource route doesn't", () => {
  const action = () => null;
  const page = (id: string, parentId: string, rest: object, module: object = {}) => ({
    [id]: { id, parentId, ...rest, module: { default: () => null, ...module } },
  });
  const { routes } = createRouteTable(
    {
      ...page("tasks", undefined as never, { path: "tasks" }, { action }),
      ...page("index", "tasks", { index: true }),
      ...page("done", "tasks", { path: "done" }),
      ...page("frame", "tasks", {}),
      ...page("framed", "frame", { index: true }),
      ...page("data", "tasks", { path: "data" }, { default: undefined, loader: action }),
      ...page("hook", "tasks", { path: "hook" }, { default: undefined, action }),
    } as ServerBuild["routes"],
    true,
  );
  const [read, write] = [
    ["GET", "HEAD"],
    ["POST", "PUT", "PATCH", "DELETE"],
  ];
  expect(Object.fromEntries(routes.map(({ id, methods }) => [id, methods]))).toEqual({
    tasks: [...read, ...write],
    index: [...read, ...write],
    done: read,
    frame: [...read, ...write],
    framed: [...read, ...write],
    data: read,
    hook: write,
  });
});

test.each([
  ["/a#b", '"#"'],
  ["/a?b", '"?"'],
  ["/a%23b", '"%23"'],
  ["/caf%C3%A9", '"%C3"'],
  ["/:id?/a#b", '"#"'],
  ["/a?", undefined],
  ["/:language?/about", undefined],
  ["/100%", undefined],
  ["/caf\u00e9", undefined],
])("a route with the path %s fails the start, if no link to the path leads to it: for %s", (path, part) => {
  const manifest = toManifest([{ id: "root", path: "", children: [{ id: "page", path: path.slice(1) }] }]);
  const pages = createPages({ routes: manifest } as ServerBuild, [{ id: "page", file: "page.tsx" }], true);
  const check = () => checkRoutes(pages, createSecurityHeaders("none", { isProduction: true }));
  if (part === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(`app/page.tsx: its path ${path} has ${part}, so no link to this path leads to it`);
});

test("a route whose path has decomposed letters fails the start, since no URL that is typed matches it", () => {
  const check = (path: string) => {
    const routes = { zoe: { id: "zoe", path, module: { default: () => null } } };
    const pages = createPages({ routes } as unknown as ServerBuild, [{ id: "zoe", file: "zoe.tsx" }], true);
    checkRoutes(pages, createSecurityHeaders("none", { isProduction: true }));
  };
  check("zo\u00EB");
  expect(() => check("zoe\u0308")).toThrow("app/zoe.tsx: its path /zoe\u0308 has decomposed letters");
});

test.each([
  ["hook", "with an action and a path", true],
  ["page", "without an action", false],
  ["index", "without a path of its own", false],
  ["layout", "with children", false],
])("a route (%s) %s may accept cross-origin requests: %s", (open, _label, isAllowed) => {
  const action = () => null;
  const route = (id: string, rest: object, module: object) => ({
    [id]: { id, ...rest, module: { ...module, handle: { acceptsCrossOrigin: id === open ? ["POST"] : undefined } } },
  });
  const routes = {
    ...route("hook", { path: "hook" }, { action }),
    ...route("page", { path: "page" }, { default: action }),
    ...route("layout", { path: "layout" }, { default: action, action }),
    ...route("index", { index: true, parentId: "layout" }, { default: action, action }),
  };
  const pages = createPages({ routes } as unknown as ServerBuild, [{ file: `${open}.tsx` }], true);
  const check = () => checkRoutes(pages, createSecurityHeaders("none", { isProduction: true }));
  if (isAllowed) check();
  else expect(check).toThrow(`app/${open}.tsx: handle.acceptsCrossOrigin is only for`);
  expect(pages.routes.filter((route) => route.acceptsCrossOrigin.length > 0).map(({ id }) => id)).toEqual([open]);
});
