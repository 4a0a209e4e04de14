import type { Handle } from "react-router-express-server/app";

/** The first is the default. */
export const LANGUAGES = ["en", "de", "fr"] as const;

export type Language = (typeof LANGUAGES)[number];

/** The values of the cookie `language`. With the first, and without a cookie, the browser's preference counts. */
export const CHOICES = ["browser", ...LANGUAGES] as const;

/** The cached versions of a page: one for each language of the browser, and for each choice. */
export const VARIANTS: Handle["variants"] = {
  "Accept-Language": [...LANGUAGES],
  Cookie: { language: [...CHOICES] },
};

/** The language of a page with these variants. The server has replaced both headers by values of the lists above. */
export function findLanguage({ headers }: Request): Language {
  const [, choice] = /language=(\w+)/.exec(headers.get("Cookie") ?? "") ?? [];
  const preferred = headers.get("Accept-Language");
  return (
    LANGUAGES.find((language) => language === choice) ?? LANGUAGES.find((language) => language === preferred) ?? "en"
  );
}
