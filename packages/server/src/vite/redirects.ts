import { dirname } from "node:path";
import type { Plugin } from "vite";
import { enginePath } from "./paths.ts";

/**
 * Makes the modules of a site import pages/react-router.ts as "react-router", for its redirects. Packages get the
 * original. Not by `resolveId`, which Vite doesn't call for packages that are external on the development server.
 */
export function encodedRedirects(): Plugin {
  const engine = dirname(enginePath("index"));
  const replacement = JSON.stringify(enginePath("pages/react-router"));
  let root = "";
  return {
    name: "react-router-express-server:redirects",
    enforce: "post", // Once it is JavaScript.
    configResolved(config) {
      root = `${config.root}/`;
    },
    transform: {
      filter: { id: { exclude: /\/node_modules\// }, code: /["']react-router["']/ },
      handler(code, id) {
        if (!id.startsWith(root) || id.startsWith(engine)) return undefined;
        const sources = this.parse(code).body.flatMap((node) => ("source" in node && node.source) || []);
        const found = sources.filter(({ value }) => value === "react-router").reverse();
        return {
          code: found.reduce((text, { start, end }) => text.slice(0, start) + replacement + text.slice(end), code),
          map: null, // No line changes.
        };
      },
    },
  };
}
