import type { Plugin } from "vite";
import { parseBase } from "../site/base-path.ts";

let basename = "/";

/** For the preset: React Router's plugin reads its config, and Vite's plugins have no other way to it. */
export function setBasename(value: string) {
  basename = value;
}

/**
 * Fails if Vite's `base` and React Router's `basename` don't agree. Sets `import.meta.env.BASENAME`, without the last
 * slash, for URLs of the site's own files: `BASE_URL` may be that of a CDN. As a constant, it adds no bytes to scripts.
 */
export function basenameInEnv(): Plugin {
  return {
    name: "react-router-express-server:basename",
    enforce: "post", // React Router's plugin has read its config.
    config({ base }) {
      parseBase(basename, base ?? "/");
      return { define: { "import.meta.env.BASENAME": JSON.stringify(basename.slice(0, -1)) } };
    },
  };
}
