import type { ServerBuild } from "react-router";

/**
 * Throws if a build has other routes than React Router 7.18 makes: parts/render/ takes them apart, and would leave out
 * layouts or loaders.
 */
export function checkBuild({ routes, assets }: ServerBuild) {
  for (const [id, route] of Object.entries(routes)) {
    const hasParent = id === "root" || routes[route?.parentId ?? ""] !== undefined;
    if (route?.id !== id || !route.module || !hasParent || assets.routes[id]?.module === undefined)
      throw new Error(
        `the build has the route ${id} in a form that the server doesn't know: install an earlier react-router, or a later react-router-express-server`,
      );
  }
}
