import { createContext } from "react";

/** The element that holds the styles of the document. */
export const STYLE_ID = "app-css";

/** The nonce of the response being rendered, or in the browser of the one received; none in pages rendered once. */
export const NonceContext = createContext(
  import.meta.env.SSR ? undefined : document.getElementById(STYLE_ID)?.nonce || undefined,
);
