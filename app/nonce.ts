import { createContext } from "react";

/** The nonce of the answer being rendered, or in the browser of the one that came; none in pages rendered once. */
export const NonceContext = createContext(
  import.meta.env.SSR ? undefined : document.querySelector("style")?.nonce || undefined,
);
