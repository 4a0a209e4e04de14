// The timeouts of a render, the shortest first, in milliseconds. HANDLER_TIMEOUT_MS (settings/server-settings.ts)
// limits the whole request.

/** Slow data of a streamed page. Its error boundary then shows. */
export const STREAM_TIMEOUT_MS = 5000;

/** React's render of a page: React Router's own entry gives the error boundaries of slow data a second more. */
export const RENDER_TIMEOUT_MS = STREAM_TIMEOUT_MS + 1000;

/** The whole render of a cached page, with its loaders. All requests for its cache key wait for it. */
export const ANONYMOUS_RENDER_TIMEOUT_MS = 10_000;
