/** Yours: the paths of all pages that search engines show. */
export const listPaths = async () => ["/"];

/** Yours: what is new, latest first. Each id is a path. */
export const listNews = async () => [{ path: "/", title: "Hello & welcome", updated: "2026-11-01T08:00:00Z" }];
