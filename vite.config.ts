import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig, isRunnableDevEnvironment, type Plugin } from "vite";

/** In development too, every request goes through server.ts, which is loaded anew when it changes. */
function serveThroughServer(): Plugin {
  return {
    name: "serve-through-server",
    configureServer: (vite) => () => {
      vite.middlewares.use(async (req, res, next) => {
        try {
          const { ssr } = vite.environments;
          if (!ssr || !isRunnableDevEnvironment(ssr)) throw new Error("no environment to run in");
          const { listener } = await ssr.runner.import("/server.ts");
          listener(req, res);
        } catch (error) {
          next(error);
        }
      });
    },
  };
}

/** Sonner's script would insert its styles as an element, which the Content-Security-Policy forbids. */
function withoutInsertedStyles(): Plugin {
  return {
    name: "without-inserted-styles",
    transform: {
      filter: { id: /\/sonner\/dist\/index\.mjs/ },
      handler(code) {
        const calls = code.match(/^__insertCSS\(".*"\);?$/gm) ?? [];
        if (calls.length !== 1) this.error("sonner inserts its styles in a new way");
        return { code: code.replace(calls[0] as string, ""), map: null };
      },
    },
  };
}

/** What every page needs, as one file: the browser's entry. Some of Radix is in it because the toasts share it. */
const FRAMEWORK =
  /rolldown.runtime|app\/(components\/message-page|toast\/toasters-on-demand)|node_modules\/(react|react-dom|react-router|@react-router|scheduler|@radix-ui\/react-(compose-refs|context|slot))\//;

export default defineConfig(({ command }) => ({
  plugins: [serveThroughServer(), tailwindcss(), withoutInsertedStyles(), reactRouter()],
  server: { port: Number(process.env.PORT ?? 3000) },
  // In development all packages are made ready at start, so that no page loads twice when it needs a new one.
  optimizeDeps: { entries: ["app/**/*.{ts,tsx}"] },
  environments: {
    client: {
      build: {
        rollupOptions: {
          output: { codeSplitting: { groups: [{ name: "framework", test: FRAMEWORK }] } },
        },
      },
    },
    ssr: {
      // Every dependency goes into the one file that production runs, without node_modules.
      ...(command === "build" && {
        resolve: { noExternal: true as const },
        define: {
          "process.env.NODE_ENV": '"production"',
          "import.meta.env.REVISION": JSON.stringify(process.env.REVISION || "unknown"),
        },
      }),
      build: {
        emitAssets: false,
        rollupOptions: {
          input: "./server.ts",
          // Names, lines and licences stay, so that stack traces can be read; other comments only weigh.
          output: { codeSplitting: false, comments: { legal: true, annotation: false, jsdoc: false } },
        },
      },
    },
  },
}));
