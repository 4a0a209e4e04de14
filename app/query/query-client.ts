import { QueryClient } from "@tanstack/react-query";

const MAX_RETRIES = 3;
/** The delay before the first retry; it doubles with each, up to the maximum. */
const RETRY_DELAY_MS = 1000;
const MAX_RETRY_DELAY_MS = 30_000;
/** Data that no component uses stays in memory for this long. */
const UNUSED_DATA_TIMEOUT_MS = 5 * 60_000;

function createQueryClient() {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // On the server, the user would wait for each retry, and a timer would outlive the render.
        retry: import.meta.env.SSR ? false : MAX_RETRIES,
        gcTime: import.meta.env.SSR ? Number.POSITIVE_INFINITY : UNUSED_DATA_TIMEOUT_MS,
        retryDelay: (failures) => Math.min(RETRY_DELAY_MS * 2 ** failures, MAX_RETRY_DELAY_MS),
      },
    },
  });
}

let browserClient: QueryClient | undefined;

/** One client for the life of a browser tab, a new one for each render on the server. */
export function getQueryClient() {
  if (import.meta.env.SSR) return createQueryClient();
  browserClient ??= createQueryClient();
  return browserClient;
}
