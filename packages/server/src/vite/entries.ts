import type { Plugin } from "vite";
import { enginePath } from "./paths.ts";

const NAME = "react-router-express-server";

/** The site's values. */
export const DEFINITION = `virtual:${NAME}/definition`;
/** The site's values and the function that makes a server of them. It opens no port. */
export const SITE = `virtual:${NAME}/site`;
/** Starts the server. */
export const START = `virtual:${NAME}/start`;

const engine = (module: string) => JSON.stringify(enginePath(module));

/** The modules that join the site and the engine. Development, tests and production use the same `server.ts`. */
export function entries(): Plugin {
  const modules: Record<string, string> = {
    [DEFINITION]: `
      import * as build from "virtual:react-router/server-build";
      import routeConfig from "/app/routes.ts";
      import { name, version } from "/package.json";
      import definition from "/server.ts";
      const revision = ${JSON.stringify(process.env.REVISION || "unknown")};
      export const site = { definition, build, routeConfig, name, version, revision };`,
    [SITE]: `
      export { site } from "${DEFINITION}";
      export { createServer } from ${engine("create-server")};`,
    [START]: `
      import { site } from "${SITE}";
      import { start } from ${engine("process/start")};
      await start(site);`,
  };
  return {
    name: `${NAME}:entries`,
    resolveId: { filter: { id: new RegExp(`^virtual:${NAME}/`) }, handler: (id) => (id in modules ? `\0${id}` : null) },
    load: { filter: { id: new RegExp(`^\0virtual:${NAME}/`) }, handler: (id) => modules[id.slice(1)] },
  };
}
