import { createContext } from "react";

/** The element that holds the styles of the document. */
export const STYLE_ID = "app-css";

const received = import.meta.env.SSR ? undefined : document.getElementById(STYLE_ID)?.nonce || undefined;

// Where packages that insert styles look for it, as Radix's dialogs and menus do (get-nonce).
if (received) Object.assign(window, { __webpack_nonce__: received });

/** The nonce of the response being rendered, or in the browser of the one received; none in pages rendered once. */
export const NonceContext = createContext(received);
