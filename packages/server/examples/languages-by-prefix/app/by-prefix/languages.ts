/** Each is a prefix of paths. The first is the default. */
export const LANGUAGES = ["en", "de"] as const;

export type Language = (typeof LANGUAGES)[number];

/** The names, each in its language. */
export const NAMES: Record<Language, string> = { en: "English", de: "Deutsch" };

/** The language of a path, or undefined if the path has no prefix. */
export const findPrefix = (path: string) =>
  LANGUAGES.find((language) => new RegExp(`^/${language}(/|$)`, "i").test(path));

/** The language of the document around a page. */
export const toDocumentLanguage = (path: string, otherwise: string) => findPrefix(path) ?? otherwise;

/** The same page in another language. */
export const toPath = (path: string, language: Language) => path.replace(/^\/[^/]*/, `/${language}`);
