import { createContext } from "react-router";

export type RenderPart = "loader" | "action" | "render";

/** A part of a response, such as `loader routes/about`. The times are those of `performance.now()`. */
export type MeasuredPart = { name: string; startedAt: number; endedAt?: number; error?: unknown };

export type Render = {
  /** The nonce of the response's policy, if it has one. */
  nonce?: string | undefined;
  /** Whether the response is rendered for the cache: without cookies and client headers, and complete. */
  isAnonymous?: boolean;
  /** The site's public origin, if the operator sets it. */
  origin?: string | undefined;
  /** A hash of the client files. */
  release: string;
  onError: (error: unknown) => void;
  /** Records the duration of a part, in seconds. */
  record: (part: RenderPart, seconds: number) => void;
  /** The parts that have started, for the log line. */
  parts?: MeasuredPart[] | undefined;
  /** The parts that run. They take memory until they end, even if the client has left. */
  running?: Set<Promise<unknown>> | undefined;
  /** Runs a part in a span. */
  trace?: Trace | undefined;
};

/** Runs a part of a response, such as `loader routes/about`, and returns its result. */
export type Trace = <Result>(name: string, run: () => Promise<Result>) => Promise<Result>;

/** The server's values for a render. Null in React Router's prerender. */
export const renderContext = createContext<Render | null>(null);

/** Aborted when the client has gone or the server shuts down: for event streams. */
export const signalContext = createContext(new AbortController().signal);

/** Resolves when nothing reads the responses of loaders and actions any more. */
export const endedContext = createContext<Promise<void> | null>(null);

export type Cache = {
  /**
   * Invalidates the cached responses of groups (`Cache-Groups`, RFC 9875), and those of paths, in every process. In
   * this process it takes effect at once. Resolves with the number of entries that were removed from its cache, once
   * the message to the other processes is sent, or after 2 s: it is then sent later. It never rejects.
   */
  invalidate: (groups: string[], paths?: string[]) => Promise<number>;
};

/** Takes work that starts once the response has ended. Its errors are logged. */
export type AfterResponse = (work: () => unknown) => void;

/** For what no client needs to wait for, such as an e-mail (docs/uploads-and-streams.md). */
export const afterContext = createContext<AfterResponse>();

/** The page cache, for loaders and actions (docs/caching.md). */
export const cacheContext = createContext<Cache>();
