import { createContext } from "react";

/** The element that holds the styles of the document. */
export const STYLE_ID = "app-css";

// In development the styles have Vite's.
const element = () =>
  import.meta.env.DEV ? document.querySelector<HTMLElement>("script[nonce]") : document.getElementById(STYLE_ID);
const received = import.meta.env.SSR ? undefined : element()?.nonce || undefined;

// Packages that insert styles read it there, such as Radix's dialogs and menus (get-nonce).
if (received) Object.assign(window, { __webpack_nonce__: received });

/** The nonce of the response, on the server and in the browser. Undefined in cached pages. */
export const NonceContext = createContext(received);
