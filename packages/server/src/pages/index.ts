// For the modules of pages, in the browser and on the server.
export { CACHED_FOR_A_MINUTE } from "./cache-control.ts";
export { type AfterResponse, afterContext, type Cache, cacheContext, signalContext } from "./context.ts";
export type { Handle } from "./handle.ts";
export { InlineStyles } from "./inline-styles.tsx";
export { invalidateCache } from "./invalidate-cache.ts";
export { keepRejectedForms } from "./keep-rejected-forms.ts";
export { rejectMalformedBodies } from "./malformed-bodies.ts";
export { reloadOldTab } from "./missing-file.ts";
export { useNonce } from "./nonce.ts";
export { useOrigin } from "./origin.ts";
export { useOwnDocument } from "./own-document.ts";
export { sendErrorReport } from "./report-error.ts";
export { sendWebVitals } from "./send-web-vitals.ts";
