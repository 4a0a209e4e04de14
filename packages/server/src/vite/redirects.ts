import { dirname } from "node:path";
import type { Plugin } from "vite";
import { enginePath } from "./paths.ts";

/**
 * Makes the modules of a site, and of its linked packages, import pages/react-router.ts as "react-router", for its
 * redirects. Other packages get the original, as does `import("react-router")`. Not by `resolveId`, which Vite doesn't
 * call for packages that are external on the development server.
 */
export function encodedRedirects(): Plugin {
  const engine = dirname(enginePath("index"));
  const replacement = JSON.stringify(enginePath("pages/react-router"));
  return {
    name: "react-router-express-server:redirects",
    enforce: "post", // Once it is JavaScript.
    transform: {
      filter: { id: { exclude: /\/node_modules\// }, code: /["']react-router["']/ },
      handler(code, id) {
        if (id.startsWith(engine)) return undefined;
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
