import { dirname, relative, resolve } from "node:path";
import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig, type Plugin, type Rolldown, runnerImport } from "vite";
import { withoutToastStyles } from "./app/toast/vite-plugin.ts";
import { serveApp } from "./server/development.ts";
import { withoutRetainedChunks } from "./server/streams/vite-plugin.ts";

/** Replaces app/routes.ts with the list that it exports, so that browsers don't load @react-router/dev/routes. */
function evaluatedRoutes(): Plugin {
  return {
    name: "evaluated-routes",
    load: {
      filter: { id: /\/app\/routes\.ts$/ },
      async handler(file) {
        const { module, dependencies } = await runnerImport<{ default: unknown }>(file);
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

/** Keeps styles out of the server's build, except the names of CSS modules and the text of `?inline` styles. */
function withoutServerStyles(): Plugin {
  return {
    name: "without-server-styles",
    apply: "build",
    enforce: "pre",
    applyToEnvironment: ({ name }) => name === "ssr",
    load: { filter: { id: /(?<!\.module)\.css$/ }, handler: () => "" },
  };
}

/** The browser's entry and the root route: every page needs what they import. */
const ENTRY = /\/entry\.client\.tsx$/;
const ROOT = /\/app\/root\.tsx\b/;

/**
 * Puts the modules that every page needs (the shell) in the file of the browser's entry. Otherwise such a module would
 * become its own file once a page imports it, too, and the preloads of all pages would change.
 */
function nameChunk(id: string, context: { getModuleInfo: Rolldown.GetModuleInfo }) {
  const importers = context.getModuleInfo(id)?.importers ?? [];
  const isShell = [id, ...importers].some((file) => ENTRY.test(file)) || importers.some((file) => ROOT.test(file));
  return isShell ? "shell" : null;
}

/**
 * The server's packages that can't be bundled, such as those with a native addon: sharp, better-sqlite3. The build
 * copies them with their dependencies (react-router.config.ts).
 */
const EXTERNAL_PACKAGES: string[] = [];

/** The license notices of the bundled packages, beside the server and at /licenses.md. */
const LICENSES = { fileName: "licenses.md" };

export default defineConfig(({ command }) => {
  // React's development build must not ship, even if NODE_ENV is set.
  if (command === "build") process.env.NODE_ENV = "production";
  return {
    plugins: [
      serveApp(),
      evaluatedRoutes(),
      tailwindcss(),
      withoutToastStyles(), // The policy blocks the styles that it would insert.
      withoutServerStyles(),
      withoutRetainedChunks(),
      reactRouter(),
    ],
    envDir: false, // Vite would read more files than `npm start`, and the build reads none.
    // Vite optimizes all packages at startup. Otherwise a page that imports another one would reload.
    optimizeDeps: {
      entries: ["app/**/*.{ts,tsx}", "!app/**/*.test.{ts,tsx}"],
      rolldownOptions: { plugins: [withoutToastStyles()] },
    },
    // Inlined images would be `data:` URLs, which the Content-Security-Policy blocks.
    build: { assetsInlineLimit: 0 },
    environments: {
      client: {
        build: {
          license: LICENSES,
          rollupOptions: {
            // React Router warns about build.sourcemap. The site doesn't have these maps (react-router.config.ts).
            output: { sourcemap: "hidden", codeSplitting: { groups: [{ name: nameChunk }] } },
          },
        },
      },
      ssr: {
        // The build contains every dependency, so that it runs without the project's node_modules.
        ...(command === "build" && {
          resolve: { noExternal: true as const, external: EXTERNAL_PACKAGES },
          define: {
            "process.env.NODE_ENV": '"production"',
            "import.meta.env.REVISION": JSON.stringify(process.env.REVISION || "unknown"),
          },
        }),
        build: {
          emitAssets: false,
          license: LICENSES,
          sourcemap: "hidden",
          rollupOptions: {
            // Production runs `index`. Tests import `app` and `services`, which open no port.
            input: { index: "./server.ts", app: "./server/app.ts", services: "./server/services.ts" },
            output: {
              // Licence notices must stay; other comments only add bytes.
              comments: { legal: true, annotation: false, jsdoc: false },
            },
          },
        },
      },
    },
  };
});
