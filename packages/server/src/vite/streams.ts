import type { Plugin } from "vite";
import { enginePath } from "./paths.ts";

const STREAMS = enginePath("parts/render/streams/react-router-node");

/**
 * Makes the site and React Router's adapter for Express import stream functions from
 * parts/render/streams/react-router-node.ts. The development server has React Router's own, which Node loads faster.
 */
export function withoutRetainedChunks(): Plugin {
  let isReplaced = false;
  return {
    name: "react-router-express-server:streams",
    apply: "build",
    enforce: "pre",
    applyToEnvironment: ({ name }) => name === "ssr",
    resolveId: {
      filter: { id: /^@react-router\/node$/ },
      handler(_id, importer) {
        if (importer?.startsWith(STREAMS)) return undefined; // It imports React Router's own.
        isReplaced ||= importer?.includes("/@react-router/express/") ?? false;
        return STREAMS;
      },
    },
    generateBundle() {
      if (!isReplaced) this.error("@react-router/express has changed its imports: adapt vite/streams.ts");
    },
  };
}
