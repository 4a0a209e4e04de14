// In development, Node loads the engine without Vite, which sets `import.meta.env`.

export const IS_SERVER: boolean = import.meta.env?.SSR ?? true;

export const IS_DEVELOPMENT: boolean = import.meta.env?.DEV ?? true;
