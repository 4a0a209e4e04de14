import { createContext, useContext } from "react";
import { IS_SERVER } from "./environment.ts";

const canonical = IS_SERVER ? null : document.querySelector<HTMLLinkElement>("link[rel=canonical]");
const received = canonical ? new URL(canonical.href).origin : undefined;

export const OriginContext = createContext(received);

/**
 * The site's public origin, such as `https://www.example.org`, if the operator sets it. In the browser, it is that of
 * `<link rel="canonical">`.
 */
export const useOrigin = () => useContext(OriginContext);
