/** Browsers revalidate. Shared caches send a response for a minute, and longer while they revalidate or on errors. */
export const CACHED_FOR_A_MINUTE = "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400";
