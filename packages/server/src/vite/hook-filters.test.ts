import { reactRouter } from "@react-router/dev/vite";
import { createFilter, type Plugin } from "vite";
import { expect, test } from "vitest";
import { hookFilters, setRouteFiles } from "./hook-filters.ts";

const PACKAGE = "/site/node_modules/react-dom/index.js";

const HOOKS = ["resolveId", "load", "transform"] as const;

function addFilters(plugins: Plugin[]) {
  (hookFilters().configResolved as unknown as (config: { plugins: Plugin[] }) => void)({ plugins });
}

/** Returns whether Rolldown calls a hook of React Router's plugin for a module. */
function isCalled(name: string, hook: (typeof HOOKS)[number], id: string) {
  const plugin = { name, [hook]: () => undefined };
  addFilters([plugin]);
  const found = plugin[hook] as unknown as { filter?: { id: RegExp | { exclude: RegExp } } };
  if (!found.filter) return true;
  const { id: filter } = found.filter;
  return filter instanceof RegExp ? filter.test(id) : createFilter(undefined, filter.exclude)(id);
}

test.each([
  ["a module of a package", "react-router:route-exports", "transform", PACKAGE, false],
  ["a module of the site", "react-router:route-exports", "transform", "/site/app/root.tsx", true],
  ["a client module of a package", "react-router:dot-client", "transform", "/node_modules/a/map.client.js", true],
  ["a package's folder .client/", "react-router:dot-client", "transform", "/node_modules/a/.client/map.js", true],
  ["an import of a package", "react-router:virtual-modules", "resolveId", "react", false],
  ["an import of React Router's own", "react-router:virtual-modules", "resolveId", "virtual:react-router/x", true],
  ["a module of a package", "react-router:virtual-modules", "load", PACKAGE, false],
  ["React Router's own module", "react-router:virtual-modules", "load", "\0virtual:react-router/server-build", true],
  ["an import that may be of server code", "react-router:dot-server", "resolveId", "~/data", true],
] as const)("for %s, a build calls %s's hook %s (%s): %s", (_what, name, hook, id, expected) => {
  expect(isCalled(name, hook, id)).toBe(expected);
});

test("a route that is in a package stays a route", () => {
  setRouteFiles(["../node_modules/blog/routes/post.tsx"]);
  expect(isCalled("react-router:route-exports", "transform", "/site/node_modules/blog/routes/post.tsx")).toBe(true);
  setRouteFiles([]);
});

test("a build calls one hook of the installed React Router for each import of a package", () => {
  const plugins = reactRouter();
  addFilters(plugins);
  const called = plugins.flatMap((plugin) =>
    HOOKS.filter((hook) => typeof plugin[hook] === "function").map((hook) => `${plugin.name} ${hook}`),
  );
  expect(called).toEqual(["react-router:dot-server resolveId"]);
});
