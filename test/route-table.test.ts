import fc from "fast-check";
import { matchRoutes, type RouteObject, type ServerBuild } from "react-router";
import { expect, test, vi } from "vitest";
import { parseRequestTarget } from "../server/http/request-target.ts";
import { createRouteTable } from "../server/pages/route-table.ts";

/** The routes as the framework's build lists them. */
function toManifest(tree: RouteObject[], parentId?: string): ServerBuild["routes"] {
  const entries = tree.flatMap((route) => [
    [route.id, { ...route, children: undefined, parentId, module: { default: () => null } }],
    ...Object.entries(toManifest(route.children ?? [], route.id)),
  ]);
  return Object.fromEntries(entries);
}

const SPLAT = { id: "404", path: "*" };

const TREES: Record<string, RouteObject[]> = {
  "the pages of today": [{ id: "root", path: "", children: [{ id: "home", index: true }, SPLAT] }],
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

const KNOWN = "items about new parts About NEW ITEMS 1 en %61bout %C3%BCber h%C3%A9llo items%2Fnew".split(" ");
const ODD = ["", ".", "..", "%2F", "%2f", "%25", "%", "%E0%A4%A", "%0a", "%E2%80%A8"];
const PUNCTUATION = [..."abZ09:*+.()[]{}|^$\\~!@&=,;'\"<>"];

const segment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...KNOWN) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...PUNCTUATION) }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 3 }).map(encodeURIComponent) },
);
const path = fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join("/")}`);

/** What the server looks up for a path that a client asked for. */
const parsed = (path: string) => parseRequestTarget(path)?.path as string;

test.each(Object.entries(TREES))("%s: every path has the route that matchRoutes finds", (_name, tree) => {
  // It warns of broken escapes, and then matches the path as it stands.
  vi.spyOn(console, "warn").mockReturnValue();
  const { findRoute } = createRouteTable(toManifest(tree));
  fc.assert(
    fc.property(path, (path) => {
      expect(findRoute(parsed(path))?.id).toBe(matchRoutes(tree, { pathname: path })?.at(-1)?.route.id);
    }),
    { numRuns: 2000 },
  );
});

function medianTime(runs: number, run: () => void) {
  const times = Array.from({ length: runs }, () => {
    const begun = performance.now();
    run();
    return performance.now() - begun;
  });
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)] as number;
}

const LONG = ["/a", "/", "/.", "/%25", "/%", "/%0a", "/items/1", "/about/", "/items%2F", "/a.data"];

test.each(LONG.flatMap((part) => Object.keys(TREES).map((name) => [part, name] as const)))(
  "%j repeated: twice the path takes no more than twice the time, with %s",
  (part, name) => {
    const { findRoute } = createRouteTable(toManifest(TREES[name] as RouteObject[]));
    const [short, long] = [7000, 14_000].map((length) => parsed(part.repeat(length / part.length))) as [string, string];
    const [once, twice] = [medianTime(25, () => findRoute(short)), medianTime(25, () => findRoute(long))];
    // Twice, and as much again for a machine that does other things too; below 0.1 ms there is only noise.
    expect(twice / Math.max(once, 0.1)).toBeLessThanOrEqual(4);
  },
);
