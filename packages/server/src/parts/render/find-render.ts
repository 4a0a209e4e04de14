import { randomUUID } from "node:crypto";
import type { RouterContextProvider } from "react-router";
import { type Render, renderContext } from "../../pages/context.ts";

/** The server's values for a render. React Router's prerender has no server, and passes an empty context. */
export function findRender(context: Pick<RouterContextProvider, "get">): Render {
  return context.get(renderContext) ?? createPrerender();
}

/** Random, so that no content can have it. In the environment, for the build's own modules and those of its result. */
export function findPrerenderNonce() {
  process.env.PRERENDER_NONCE ??= randomUUID();
  return process.env.PRERENDER_NONCE;
}

function createPrerender(): Render {
  return {
    nonce: findPrerenderNonce(),
    isAnonymous: true,
    release: "",
    record() {},
    onError(error) {
      console.error(error);
      process.exitCode = 1; // React Router goes on if streamed data fails, and vite/move-prerendered.ts reads this.
    },
  };
}
