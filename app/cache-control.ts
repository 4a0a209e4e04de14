/** Browsers revalidate. Shared caches send it for a minute, and longer while they revalidate or if the server is down. */
export const CACHED_FOR_A_MINUTE = "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400";
