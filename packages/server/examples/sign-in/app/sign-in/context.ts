import { createContext, type SessionStorage } from "react-router";

/** The sessions of users. */
export const sessionsContext = createContext<SessionStorage<{ email: string }>>();

/** The signed-in user's address, for the pages inside private.tsx. */
export const emailContext = createContext<string>();
