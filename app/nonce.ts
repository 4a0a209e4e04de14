import { createContext } from "react";

/** The element that holds the styles of the document. */
export const STYLE_ID = "app-css";

// In development the styles have Vite's.
const element = () =>
  import.meta.env.DEV ? document.querySelector<HTMLElement>("script[nonce]") : document.getElementById(STYLE_ID);
const received = import.meta.env.SSR ? undefined : element()?.nonce || undefined;

// Where packages that insert styles look for it, as Radix's dialogs and menus do (get-nonce).
if (received) Object.assign(window, { __webpack_nonce__: received });

/** The nonce of the response being rendered, or in the browser of the one received; none in pages rendered once. */
export const NonceContext = createContext(received);
