import { createContext, useContext } from "react";
import { IS_DEVELOPMENT, IS_SERVER } from "./environment.ts";

/** The element that holds the styles of the document. */
export const STYLE_ID = "app-css";

// In development, styles have Vite's fixed nonce, and scripts have the response's.
const element = () =>
  IS_DEVELOPMENT ? document.querySelector<HTMLElement>("script[nonce]") : document.getElementById(STYLE_ID);
const received = IS_SERVER ? undefined : element()?.nonce || undefined;

// Packages that insert styles, such as Radix's dialogs (get-nonce), read the nonce from `window.__webpack_nonce__`.
if (received) Object.assign(window, { __webpack_nonce__: received });

export const NonceContext = createContext(received);

/** The nonce of the response, on the server and in the browser. Undefined in cached pages. */
export const useNonce = () => useContext(NonceContext);
