import { createContext } from "react-router";

export type RenderPart = "loader" | "action" | "render";

type Render = {
  /** The nonce of the response's policy, if it has one. */
  nonce?: string | undefined;
  /** Whether the page is kept for everybody, and not for one request, and so must be complete. */
  isForEverybody?: boolean;
  /** The site's public origin, where the operator names it. */
  origin?: string | undefined;
  onError: (error: unknown) => void;
  /** Told how long a part took, in seconds. */
  record: (part: RenderPart, seconds: number) => void;
};

/** What the server tells a render. */
export const renderContext = createContext<Render>();

/** Aborted when the client has gone or the server shuts down: for streams that have no end of their own. */
export const signalContext = createContext(new AbortController().signal);
