import { useMatches } from "react-router";
import type { Language } from "./languages";

/** The language of the page: that of the loader which returns one. */
export function useLanguage(): Language {
  const languages = useMatches().map(({ loaderData }) => (loaderData as { language?: Language } | null)?.language);
  return languages.find((language) => language !== undefined) ?? "en";
}
