import type { RouteConfig } from "@react-router/dev/routes";
import type { ServerBuild } from "react-router";
import type { Definition } from "./define-server.ts";

// What development and tests take from the build of a site, so that both use the build's own instances of the modules.
export { createApplication } from "./create-server.ts";
export { createCache } from "./parts/page-cache/cache.ts";
export { createPages } from "./site/pages.ts";
export { createMetrics } from "./telemetry/metrics.ts";

/** What the server gets of a site, as values (vite/entries.ts). */
export type Site = {
  /** The default export of `server.ts`. */
  definition: Definition;
  build: ServerBuild;
  /** The default export of `app/routes.ts`. */
  routeConfig: RouteConfig;
  /** The name and version of its `package.json`. */
  name: string;
  version: string;
  /** The commit, if the build got it. */
  revision: string;
  isProduction: boolean;
};
