// For `server.ts` and `entry.server.tsx`, on the server.
export { defineServer, type ServiceOptions, type Services } from "./define-server.ts";
export { createExpress } from "./express.ts";
export { isSameOrigin } from "./http/same-origin.ts";
export { maxBodyBytes } from "./overload/index.ts";
export { acceptsCrossOrigin } from "./parts/admit/check-origin.ts";
export type { Purge } from "./parts/page-cache/edge.ts";
export type { CacheChannel } from "./parts/page-cache/invalidation.ts";
export { handleDataRequest, handleError, renderDocument, streamTimeout } from "./parts/render/document.tsx";
export { instrumentations } from "./parts/render/instrumentations.ts";
export { createRequestHandler } from "./parts/render/request-handler.ts";
