/**
 * The size of `/film.mp4`, a large file of the site: it repeats "0123456789". Linux buffers up to 36 MB for a client that
 * reads and then pauses.
 */
export const FILM_BYTES = 100 * 1024 * 1024;
