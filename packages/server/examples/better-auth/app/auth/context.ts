import { createContext } from "react-router";
import type { Auth, Session } from "./auth.server";

/** Better Auth's functions. */
export const authContext = createContext<Auth["api"]>();

/** Who is signed in, for the pages inside members.tsx. */
export const sessionContext = createContext<Session>();
