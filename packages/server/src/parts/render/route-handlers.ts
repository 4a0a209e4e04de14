import type { ServerBuild } from "react-router";

/**
 * Returns a function that returns the request handler of a route. Without a route, it handles the whole build. It is
 * made at its first use. React Router (7.18.6) converts all routes of a build for each page that it renders, so a
 * handler gets one route and its parent routes. In development, it gets the whole build, as from React Router's own
 * server: only such a build has an HMR runtime.
 */
export function createHandlers<H>(build: ServerBuild, make: (build: ServerBuild) => H) {
  const handlers = new Map<string | undefined, H>();
  return (routeId: string | undefined): H => {
    const leafId = build.assets.hmr ? undefined : routeId;
    const handler = handlers.get(leafId) ?? make(leafId === undefined ? build : createBranchBuild(build, leafId));
    handlers.set(leafId, handler);
    return handler;
  };
}

/**
 * The build with one route and its parent routes, as React Router's `serverBundles` makes it. Browsers load the list of
 * all routes from `assets.url`.
 */
export function createBranchBuild(build: ServerBuild, leafId: string): ServerBuild {
  const ids: string[] = [];
  for (let id: string | undefined = leafId; id !== undefined; id = build.routes[id]?.parentId) ids.push(id);
  const pick = <R>(routes: Record<string, R>) => Object.fromEntries(ids.map((id) => [id, routes[id]]));
  return { ...build, routes: pick(build.routes), assets: { ...build.assets, routes: pick(build.assets.routes) } };
}
