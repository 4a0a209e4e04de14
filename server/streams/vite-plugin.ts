import { join } from "node:path";
import type { Plugin } from "vite";

const REPLACEMENT = join(import.meta.dirname, "react-router-node.ts");

/** Makes React Router's adapter for Express import its stream functions from react-router-node.ts. */
export function withoutRetainedChunks(): Plugin {
  let isReplaced = false;
  return {
    name: "without-retained-chunks",
    enforce: "pre",
    applyToEnvironment: ({ name }) => name === "ssr",
    // In development, packages are external by default: plugins don't resolve their imports.
    config: () => ({
      environments: { ssr: { resolve: { noExternal: ["@react-router/express", "@react-router/node"] } } },
    }),
    resolveId: {
      filter: { id: /^@react-router\/node$/ },
      handler(_id, importer) {
        if (!importer?.includes("/@react-router/express/")) return undefined;
        isReplaced = true;
        return REPLACEMENT;
      },
    },
    generateBundle() {
      if (!isReplaced) this.error("@react-router/express has changed its imports: adapt server/streams/");
    },
  };
}
