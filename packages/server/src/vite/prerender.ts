import type { Plugin } from "vite";

/** In build/server/: React Router's build in a file of its own, which its prerender imports. */
export const BUILD_FILE = "prerender.js";

let isUsed = false;

/** For the preset: React Router's plugin reads its config, and Vite's plugins have no other way to it. */
export function setPrerender(value: unknown) {
  isUsed = value !== undefined && value !== false;
}

/** Whether the build prerenders pages. */
export const isPrerendered = () => isUsed;

export function prerenderEntry(): Plugin {
  return {
    name: "react-router-express-server:prerender",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "ssr",
    buildStart() {
      if (isUsed) this.emitFile({ type: "chunk", id: "virtual:react-router/server-build", fileName: BUILD_FILE });
    },
  };
}
