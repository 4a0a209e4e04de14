import { createContext } from "react";

/** The nonce of the answer being rendered; none in the browser and in pages rendered once. */
export const NonceContext = createContext<string | undefined>(undefined);
