// With the branch of a route, React Router responds as it does with all routes.
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import {
  createRequestHandler,
  data,
  type EntryContext,
  isRouteErrorResponse,
  Meta,
  Outlet,
  redirect,
  Scripts,
  type ServerBuild,
  ServerRouter,
  useMatches,
  useRouteError,
} from "react-router";
import { expect, test } from "vitest";
import { createRouteTable } from "../../site/route-table.ts";
import { createBranchBuild, createHandlers } from "./route-handlers.ts";

type Route = Omit<ServerBuild["routes"][string] & object, "id" | "module"> & { module: object };

const route = (parentId: string, path: string | undefined, module: object): Route => ({ parentId, path, module });
const index = (parentId: string, module: object): Route => ({ parentId, index: true, module });

/** A component that shows its name, and the data of all its layouts. */
const page = (name: string) => () => {
  const shown = useMatches().map(({ id, loaderData }) => [id, loaderData]);
  return createElement("main", null, `${name} ${JSON.stringify(shown)}`, createElement(Outlet));
};
const ErrorBoundary = () => {
  const error = useRouteError();
  return createElement("p", null, `boundary: ${isRouteErrorResponse(error) ? error.status : error}`);
};
const act =
  (name: string) =>
  async ({ request }: { request: Request }) =>
    `${name} got ${await request.text()}`;
const fail = () => {
  throw data("failed", { status: 404, headers: { "X-Failed": "yes" } });
};
/** Middleware that adds a header. */
const mark = (name: string) => async (_args: unknown, next: () => Promise<Response>) => {
  const response = await next();
  response.headers.append("X-Middleware", name);
  return response;
};

const ROUTES: Record<string, Route> = {
  root: {
    path: "",
    module: {
      default: () => createElement("html", null, createElement(Meta), createElement(Outlet), createElement(Scripts)),
      ErrorBoundary,
      loader: () => "root's data",
      middleware: [mark("root")],
      meta: () => [{ title: "Root" }],
    },
  },
  home: index("root", { default: page("home"), headers: () => ({ "Cache-Control": "public" }) }),
  shop: route("root", "shop", {
    default: page("shop"),
    loader: () => "shop's data",
    action: act("shop"),
    middleware: [mark("shop")],
    headers: { "X-Shop": "yes" },
  }),
  start: index("shop", { default: page("start"), action: act("start"), handle: { name: "start" } }),
  item: route("shop", ":id", { default: page("item"), loader: ({ params }: { params: object }) => params }),
  new: route("shop", "new", { default: page("new"), action: () => redirect("/shop/1") }),
  missing: route("shop", "missing", { default: page("missing"), loader: fail }),
  caught: route("shop", "caught", { default: page("caught"), loader: fail, ErrorBoundary }),
  frame: route("root", undefined, { default: page("frame"), middleware: [mark("frame")] }),
  about: route("frame", ":language?/about", { default: page("about"), meta: () => [{ title: "About" }] }),
  broken: route("root", "broken", { default: page("broken"), loader: fail, ErrorBoundary }),
  inside: route("broken", "inside", { default: page("inside"), loader: () => "inside's data" }),
  moved: route("root", "moved", { default: page("moved"), loader: () => redirect("/", 301) }),
  crashes: route("root", "crashes", {
    default: () => {
      throw new Error("secret");
    },
  }),
  feed: route("root", "feed", { loader: ({ request }: { request: Request }) => new Response(request.method) }),
  hook: route("root", "hook", { action: act("hook"), loader: fail }),
  404: route("root", "*", { default: page("404"), handle: { cacheKey: "/404" }, middleware: [mark("404")] }),
};

const entries = Object.entries(ROUTES);
const BUILD = {
  entry: {
    module: {
      default: (request: Request, status: number, headers: Headers, context: EntryContext) =>
        new Response(renderToString(createElement(ServerRouter, { context, url: request.url })), { status, headers }),
      handleError: () => {},
    },
  },
  routes: Object.fromEntries(entries.map(([id, entry]) => [id, { id, ...entry }])),
  assets: {
    entry: { module: "/assets/entry.js", imports: [] },
    routes: Object.fromEntries(entries.map(([id, entry]) => [id, { id, ...entry, module: `/assets/${id}.js` }])),
    url: "/assets/manifest.js",
    version: "1",
  },
  basename: "/",
  future: { v8_middleware: true, v8_passThroughRequests: true, v8_trailingSlashAwareDataRequests: true },
  routeDiscovery: { mode: "initial" },
  ssr: true,
  allowedActionOrigins: ["**"],
} as unknown as ServerBuild;

const { findRoute } = createRouteTable(BUILD.routes, true);
const handlerOf = createHandlers(BUILD, (build) => createRequestHandler(build, "production"));

async function send(leafId: string | undefined, method: string, path: string) {
  const request = new Request(`http://localhost${path}`, { method, ...(method === "POST" && { body: "a=1" }) });
  const response = await handlerOf(leafId)(request);
  return { status: response.status, headers: [...response.headers], text: await response.text() };
}

test.each<[method: string, path: string, leaf: string, status: number, text: string]>([
  ["GET", "/", "home", 200, 'home [["root","root\'s data"]'],
  ["HEAD", "/", "home", 200, ""],
  ["GET", "//", "home", 200, "home"],
  ["GET", "/_.data", "home", 200, "root's data"],
  ["GET", "/shop", "start", 200, '["start",null]'],
  ["GET", "/SHOP/", "start", 200, "shop's data"],
  ["GET", "/shop.data", "start", 200, "shop's data"],
  ["GET", "/shop/_.data?_routes=shop", "start", 200, "shop's data"],
  ["GET", "/shop/7", "item", 200, '["item",{"id":"7"}]'],
  ["GET", "/shop/7.data?_routes=item", "item", 200, '"7"'],
  ["GET", "/shop/7.data?_routes=root%2Cabout", "item", 200, "root's data"],
  ["POST", "/shop", "start", 200, "shop"],
  ["POST", "/shop?index", "start", 200, "start"],
  ["POST", "/shop.data", "start", 200, "shop got a=1"],
  ["POST", "/shop.data?index", "start", 200, "start got a=1"],
  ["POST", "/shop/new", "new", 302, ""],
  ["POST", "/shop/new.data", "new", 202, "/shop/1"],
  ["POST", "/shop/7", "item", 405, "boundary: 405"],
  ["GET", "/shop/missing", "missing", 404, "boundary: 404"],
  ["GET", "/shop/missing.data", "missing", 404, "failed"],
  ["GET", "/shop/caught", "caught", 404, "boundary: 404"],
  ["GET", "/about", "about", 200, "<title>About</title>"],
  ["GET", "/en/about", "about", 200, "about"],
  ["GET", "/broken", "broken", 404, "boundary: 404"],
  ["GET", "/broken/inside", "inside", 404, "boundary: 404"],
  ["GET", "/broken/inside.data", "inside", 404, "failed"],
  ["GET", "/moved", "moved", 301, ""],
  ["GET", "/moved.data", "moved", 202, "SingleFetchRedirect"],
  ["GET", "/crashes", "crashes", 500, "boundary: Error: Unexpected Server Error"],
  ["GET", "/feed", "feed", 200, "GET"],
  ["OPTIONS", "/feed", "feed", 200, "OPTIONS"],
  ["POST", "/hook", "hook", 200, "hook got a=1"],
  ["GET", "/hook", "hook", 404, "failed"],
  ["GET", "/404", "404", 200, "404"],
  ["GET", "/nowhere/at/all", "404", 200, "404"],
])("%s %s: the branch of %s responds as the whole build does", async (method, path, leaf, status, text) => {
  const [pathname = ""] = path.split("?");
  const id = findRoute(pathname)?.route.id;
  expect(id).toBe(leaf);
  const response = await send(id, method, path);
  expect(response).toEqual(await send(undefined, method, path));
  expect(response.status).toBe(status);
  expect(response.text.replaceAll("&quot;", '"').replaceAll("&#x27;", "'")).toContain(text);
});

test("a branch is a route and its layouts, and browsers still get all routes", () => {
  const { routes, assets } = createBranchBuild(BUILD, "about");
  expect(Object.keys(routes).sort()).toEqual(["about", "frame", "root"]);
  expect(Object.keys(assets.routes).sort()).toEqual(["about", "frame", "root"]);
  expect(assets).toMatchObject({ url: BUILD.assets.url, version: BUILD.assets.version });
});

test("each route's handler is made once", () => {
  const made: ServerBuild[] = [];
  const handlerOf = createHandlers(BUILD, (build) => made.push(build));
  for (const id of ["home", "start", "home", undefined, "start", undefined]) handlerOf(id);
  expect(made.map(({ routes }) => Object.keys(routes).length)).toEqual([2, 3, entries.length]);
});
