// For `server.ts` and `entry.server.tsx`, on the server.
export { acceptsCrossOrigin } from "./admit/check-origin.ts";
export { defineServer, type Services } from "./define-server.ts";
export { createExpress } from "./express.ts";
export { isSameOrigin } from "./http/same-origin.ts";
export { maxBodyBytes } from "./overload/index.ts";
export type { CacheChannel } from "./page-cache/cache.ts";
export { handleDataRequest, handleError, renderDocument, streamTimeout } from "./render/document.tsx";
export { instrumentations } from "./render/instrumentations.ts";
export { createRequestHandler } from "./render/request-handler.ts";
