import { dirname, resolve } from "node:path";
import { type InlineConfig, type Plugin, searchForWorkspaceRoot } from "vite";
import { SITE, START } from "./entries.ts";
import { enginePath } from "./paths.ts";

const NAME = "react-router-express-server";

/** The folder of the engine's modules. */
const ENGINE = dirname(enginePath("index"));

/** The condition of the engine's `exports` for its JavaScript, as in a packed engine (from-source.js). */
const COMPILED = ["compiled"];

/** The license notices of the bundled packages, beside the server and at /licenses.md. */
const LICENSES = { fileName: "licenses.md" };

/** Sets Vite's options for the browser's and the server's build. */
export function configure(external: string[]): Plugin {
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
              reportCompressedSize: false, // The server isn't downloaded.
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
 * it takes the path of a URL, as Vite does.
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
