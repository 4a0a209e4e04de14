import { redirect } from "react-router";
import type { Route } from "./+types/choose-prefix";
import { LANGUAGES } from "./languages";

/** Redirects /visit to the browser's language. For search engines, it is the page for all other languages. */
export function loader({ request, url }: Route.LoaderArgs) {
  const preferred = request.headers.get("Accept-Language") ?? "";
  // Browsers list them by preference.
  const languages = preferred.split(",").map((entry) => entry.trim().slice(0, 2).toLowerCase());
  const language = languages.flatMap((name) => LANGUAGES.find((known) => known === name) ?? [])[0] ?? LANGUAGES[0];
  return redirect(`/${language}/visit${url.search}`, { headers: { Vary: "Accept-Language" } });
}
