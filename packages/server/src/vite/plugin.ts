import { dirname, relative, resolve } from "node:path";
import { type Plugin, runnerImport } from "vite";
import { basenameInEnv } from "./basename.ts";
import { chunks } from "./chunks.ts";
import { configure } from "./configure.ts";
import { serveApp } from "./development.ts";
import { entries } from "./entries.ts";
import { hookFilters } from "./hook-filters.ts";
import { compressInAdvance } from "./precompress.ts";
import { prerenderEntry } from "./prerender.ts";
import { encodedRedirects } from "./redirects.ts";
import { engineSourceMaps } from "./source-maps.ts";
import { withoutRetainedChunks } from "./streams.ts";

const NAME = "react-router-express-server";

export type Options = {
  /**
   * The server's packages that can't be bundled, such as those with a native addon: sharp, better-sqlite3. The build
   * copies them with their dependencies (docs/packages-that-do-not-bundle.md).
   */
  externalPackages?: string[];
};

const MOVED = "react-router has moved its files: adapt vite/plugin.ts";

/** Builds and develops a site with its `server.ts`. Must come before `reactRouter()`. */
export function server({ externalPackages = [] }: Options = {}): Plugin[] {
  return [
    configure(externalPackages),
    entries(),
    prerenderEntry(),
    serveApp(),
    basenameInEnv(),
    evaluatedRoutes(),
    encodedRedirects(),
    productionReactRouter(),
    hookFilters(),
    clientSourceMaps(),
    engineSourceMaps(),
    chunks(),
    compressInAdvance(),
    withoutServerStyles(),
    withoutRetainedChunks(),
  ];
}

/** Replaces app/routes.ts with the list that it exports, so that browsers don't load @react-router/dev/routes. */
function evaluatedRoutes(): Plugin {
  // One for the browser and the server.
  let evaluated: ReturnType<typeof runnerImport<{ default: unknown }>> | undefined;
  const forget = () => {
    evaluated = undefined;
  };
  return {
    name: `${NAME}:routes`,
    watchChange: forget,
    load: {
      filter: { id: /\/app\/routes\.ts$/ },
      async handler(file) {
        evaluated ??= runnerImport(file);
        evaluated.catch(forget);
        const { module, dependencies } = await evaluated;
        for (const dependency of dependencies) this.addWatchFile(dependency);
        const folder = dirname(file);
        const json = JSON.stringify(await module.default, (key, value) =>
          key === "file" ? relative(folder, resolve(folder, value)) : value,
        );
        return `export default JSON.parse(${JSON.stringify(json)}, (_key, value) => Object.freeze(value));`;
      },
    },
  };
}

/**
 * React Router 7 exports its development build only, and 8 both
 * (https://github.com/remix-run/react-router/issues/14102).
 * The development build logs warnings, also in the console of visitors, and has 0.6 KB more.
 */
function productionReactRouter(): Plugin {
  const isFound = new Set<string>();
  return {
    name: `${NAME}:react-router`,
    apply: "build",
    enforce: "pre",
    resolveId: {
      filter: { id: /^react-router(\/|$)/ },
      async handler(source, importer, options) {
        const resolved = await this.resolve(source, importer, options);
        if (!resolved) return resolved;
        if (!/\/dist\/(development|production)\//.test(resolved.id)) this.error(MOVED);
        isFound.add(this.environment.name);
        return { ...resolved, id: resolved.id.replace("/dist/development/", "/dist/production/") };
      },
    },
    generateBundle() {
      if (!isFound.has(this.environment.name)) this.error(MOVED);
    },
  };
}

/**
 * Makes source maps of the browser's scripts, which the site doesn't have (preset.ts). Of `build.sourcemap`, React
 * Router warns, since it would publish them, and of `output.sourcemap`, Vite.
 */
function clientSourceMaps(): Plugin {
  return {
    name: `${NAME}:source-maps`,
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    outputOptions: (options) => ({ ...options, sourcemap: "hidden" }),
  };
}

/** Keeps styles out of the server's build, except the names of CSS modules and the text of `?inline` styles. */
function withoutServerStyles(): Plugin {
  return {
    name: `${NAME}:styles`,
    apply: "build",
    enforce: "pre",
    applyToEnvironment: ({ name }) => name === "ssr",
    load: { filter: { id: /(?<!\.module)\.css$/ }, handler: () => "" },
    // Styles as text need no source map (https://github.com/tailwindlabs/tailwindcss/issues/19930).
    onLog: (_level, { code, plugin }) => code !== "SOURCEMAP_BROKEN" || plugin !== "@tailwindcss/vite:generate:build",
  };
}
