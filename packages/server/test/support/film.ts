/** The size of `/film.mp4`, a large file of the site: it repeats "0123456789". */
export const FILM_BYTES = 50 * 1024 * 1024;
