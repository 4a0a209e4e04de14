// If a page for the cache fails, the render rejects with what the page threw, which the log line then has.
import { createElement, Suspense } from "react";
import { data, Outlet, type RouterContextProvider, type ServerBuild, ServerRouter } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import type { RouteEntry } from "../../locals.ts";
import type { Pages } from "../../site/pages.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";
import { describeError } from "../../telemetry/log-text.ts";
import { createContextFactory } from "./context.ts";
import { handleError, renderDocument } from "./document.tsx";
import { instrumentations } from "./instrumentations.ts";
import { createAnonymousRender } from "./render-anonymously.ts";

const fail = (message: string) => () => {
  throw new Error(message);
};
const hang = () => new Promise(() => {});

const ErrorBoundary = () => "failed";

/** A build with a root and one page, whose modules have these exports besides. */
function createBuild(root: object, page: object) {
  const routes = {
    root: {
      id: "root",
      path: "",
      module: { default: () => createElement(Outlet), ErrorBoundary, ...root },
    },
    page: { id: "page", parentId: "root", path: "page", module: { default: () => "page", ...page } },
  };
  const entry = {
    module: {
      default: (
        request: Request,
        status: number,
        headers: Headers,
        context: never,
        loadContext: RouterContextProvider,
      ) =>
        renderDocument(() => createElement(ServerRouter, { context, url: request.url }), {
          request,
          status,
          headers,
          loadContext,
        }),
      handleError,
      instrumentations,
    },
  };
  return {
    entry,
    routes,
    assets: {
      entry: { module: "/assets/entry.js", imports: [] },
      routes: Object.fromEntries(Object.entries(routes).map(([id, route]) => [id, { ...route, module: `/${id}.js` }])),
      url: "/assets/manifest.js",
      version: "1",
    },
    basename: "/",
    future: { v8_middleware: true, v8_passThroughRequests: true, v8_trailingSlashAwareDataRequests: true },
    routeDiscovery: { mode: "initial" },
    ssr: true,
    allowedActionOrigins: ["**"],
  } as unknown as ServerBuild;
}

/** What the render of the page rejects with, in the words of the log. */
async function renderPage(root: object, page: object) {
  const render = createAnonymousRender({
    pages: { build: createBuild(root, page), isProduction: true } as Pages,
    createContext: createContextFactory({
      release: "1",
      origin: undefined,
      cache: { invalidate: async () => 0 },
      recordPart: () => {},
      afterResponse: () => () => {},
    }),
    securityHeaders: { ofPage: () => ({}) } as unknown as SecurityHeaders,
    origin: undefined,
  });
  const route = { id: "page", pattern: "/page", cacheRule: { headers: new Headers() }, addedHeaders: {} };
  return render("/page", route as unknown as RouteEntry).then(() => "rendered", describeError);
}

afterEach(() => void vi.useRealTimers());

test.each<[what: string, root: object, page: object, cause: string]>([
  ["nothing", {}, {}, "rendered"],
  ["its loader", {}, { loader: fail("no database") }, "no database"],
  ["its parent's loader", { loader: fail("no session") }, { loader: () => 1 }, "no session"],
  ["its component", {}, { default: fail("no title") }, "no title"],
  [
    "a part inside Suspense",
    {},
    { default: () => createElement(Suspense, null, createElement(fail("no list"))) },
    "no list",
  ],
  [
    "its loader, and then the error page",
    { ErrorBoundary: fail("no style") },
    { loader: fail("no database") },
    "no database",
  ],
  ["its middleware", {}, { middleware: [fail("no user")] }, "no user"],
  ["its loader, while its parent's hangs", { loader: hang }, { loader: fail("no database") }, "no database"],
  [
    "its loader, with a response,",
    {},
    { loader: () => Promise.reject(data("down", { status: 503 })) },
    "the page has status 503",
  ],
  ["its loader, as it hangs,", {}, { loader: hang }, "no result within 10000 ms: loader page"],
])("of a page for the cache in which %s fails, the log has the cause", async (what, root, page, cause) => {
  if (what.includes("hangs")) vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const rendering = renderPage(root, page);
  if (what.includes("hangs")) await vi.advanceTimersByTimeAsync(60_000);
  expect(await rendering).toBe(cause);
});
