import { dirname, relative, resolve } from "node:path";
import { type InlineConfig, type Plugin, runnerImport, searchForWorkspaceRoot } from "vite";
import { basenameInEnv } from "./basename.ts";
import { chunks } from "./chunks.ts";
import { serveApp } from "./development.ts";
import { entries, SITE, START } from "./entries.ts";
import { hookFilters } from "./hook-filters.ts";
import { enginePath } from "./paths.ts";
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

/** The folder of the engine's modules. */
const ENGINE = dirname(enginePath("index"));

/** The condition of the engine's `exports` for its JavaScript, as in a packed engine (from-source.js). */
const COMPILED = ["compiled"];

const MOVED = "react-router has moved its files: adapt vite/plugin.ts";

/** The license notices of the bundled packages, beside the server and at /licenses.md. */
const LICENSES = { fileName: "licenses.md" };

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

function configure(external: string[]): Plugin {
  return {
    name: `${NAME}:config`,
    enforce: "pre", // React Router's plugin reads the input.
    config({ root = process.cwd(), base, configFile, server }: InlineConfig, { command }) {
      // React's development build must not ship, even if NODE_ENV is set.
      if (command === "build") process.env.NODE_ENV = "production";
      // React Router's second server, which lists the exports of routes, has no config file. It reads each file anew.
      const isChildCompiler = configFile === false;
      if (isChildCompiler && server) server.watch = null;
      return {
        ...(base && { base: toBase(base, command) }),
        server: {
          fs: { allow: [searchForWorkspaceRoot(root), ENGINE] }, // The engine may be in another folder.
          ...(!isChildCompiler && { watch: { ignored: isUnwatched(root) } }),
        },
        envDir: false, // Vite would read more files than `npm start`, and the build reads none.
        // Vite optimizes all packages at startup. Otherwise a page that imports another one would reload. The engine is
        // one module for the server and the pages, since React Router compares contexts by identity.
        optimizeDeps: {
          entries: ["app/**/*.{ts,tsx}", "!app/**/*.{test,slow}.{ts,tsx}"],
          exclude: [NAME],
          include: [`${NAME} > structured-headers`], // Vite doesn't look for the packages of an excluded one.
        },
        // Inlined images would be `data:` URLs, which the Content-Security-Policy blocks.
        build: {
          assetsInlineLimit: 0,
          // Most of the time is React Router's, so the site can't act on the warning.
          rollupOptions: { checks: { bundlerTimings: false } },
        },
        environments: {
          client: {
            resolve: { conditions: COMPILED },
            build: {
              license: LICENSES,
              rollupOptions: {
                // esbuild's helper that names functions: its calls would keep the unused ones of packages, such as
                // Radix.
                treeshake: { manualPureFunctions: ["__name"] },
                output: {},
              },
            },
          },
          ssr: {
            // The build contains every dependency, so that it runs without the project's node_modules.
            resolve: {
              conditions: COMPILED,
              // In development, Node loads the engine, once.
              ...(command === "build"
                ? { noExternal: true, external }
                : { external: [NAME], externalConditions: COMPILED }),
            },
            ...(command === "build" && { define: { "process.env.NODE_ENV": '"production"' } }),
            build: {
              emitAssets: false,
              reportCompressedSize: false, // Nobody downloads the server.
              license: LICENSES,
              sourcemap: "hidden",
              rollupOptions: {
                // Production runs `index`. Tests import `site`, which opens no port.
                input: { index: START, site: SITE },
                output: {
                  // Licence notices must stay; other comments only add bytes.
                  comments: { legal: true, annotation: false, jsdoc: false },
                },
              },
            },
          },
        },
      };
    },
  };
}

/**
 * Vite's `base` with its last slash, which React Router's plugin needs. The development server has the assets itself, so
 * of a URL it takes the path, as Vite does.
 */
function toBase(base: string, command: "build" | "serve") {
  const path = command === "serve" && URL.canParse(base) ? new URL(base).pathname : base;
  return path.endsWith("/") ? path : `${path}/`;
}

/** Returns whether development needs no watcher of a path: to start one for each file takes long. */
function isUnwatched(root: string) {
  const folders = [resolve(root, "build"), resolve(root, "test"), dirname(ENGINE)].filter(
    (folder) => !resolve(root).startsWith(folder),
  );
  return (path: string) => folders.includes(path);
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
 * React Router's package exports its development build only (https://github.com/remix-run/react-router/issues/14102).
 * It logs warnings, also in the console of visitors, and has 0.6 KB more.
 */
function productionReactRouter(): Plugin {
  const isReplaced = new Set<string>();
  return {
    name: `${NAME}:react-router`,
    apply: "build",
    enforce: "pre",
    resolveId: {
      filter: { id: /^react-router(\/|$)/ },
      async handler(source, importer, options) {
        const resolved = await this.resolve(source, importer, options);
        if (!resolved || resolved.id.includes("/dist/production/")) return resolved;
        if (!resolved.id.includes("/dist/development/")) this.error(MOVED);
        isReplaced.add(this.environment.name);
        return { ...resolved, id: resolved.id.replace("/dist/development/", "/dist/production/") };
      },
    },
    generateBundle() {
      if (!isReplaced.has(this.environment.name)) this.error(MOVED);
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
