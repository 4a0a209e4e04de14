// Vite replaces `import.meta.env` in the modules of pages, so that browsers don't load the server's and development's
// code. In development, Node loads the engine without Vite.

export const IS_SERVER: boolean = import.meta.env?.SSR ?? true;

export const IS_DEVELOPMENT: boolean = import.meta.env?.DEV ?? true;

/** The base path, without its last slash (vite/basename.ts). */
export const BASENAME: string = import.meta.env?.BASENAME ?? "";
