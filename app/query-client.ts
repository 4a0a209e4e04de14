import { QueryClient } from "@tanstack/react-query";

/** A failed query is tried again this many times before its error is shown. */
const RETRIES = 3;
/** The wait before the first retry, in ms; it doubles with each, up to the longest. */
const FIRST_RETRY_DELAY = 1000;
const LONGEST_RETRY_DELAY = 30_000;
/** Data that no component uses is kept this long, in ms. */
const UNUSED_DATA_KEPT = 5 * 60_000;

function createQueryClient() {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: RETRIES,
        retryDelay: (failures) => Math.min(FIRST_RETRY_DELAY * 2 ** failures, LONGEST_RETRY_DELAY),
        // On the server the client goes with its render; a timer would keep its data for longer.
        gcTime: import.meta.env.SSR ? Number.POSITIVE_INFINITY : UNUSED_DATA_KEPT,
      },
    },
  });
}

let browserClient: QueryClient | undefined;

/** One client for the life of a browser tab, a fresh one for each render on the server. */
export function getQueryClient() {
  if (import.meta.env.SSR) return createQueryClient();
  browserClient ??= createQueryClient();
  return browserClient;
}
