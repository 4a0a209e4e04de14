import { createContext, type SessionStorage } from "react-router";
import type { createAccounts } from "./accounts.server";

/** The sessions of users. */
export const sessionsContext = createContext<SessionStorage<{ email: string }>>();

/** Creates and finds accounts. */
export const accountsContext = createContext<ReturnType<typeof createAccounts>>();

/** The signed-in user's address, for the pages inside private.tsx. */
export const emailContext = createContext<string>();
