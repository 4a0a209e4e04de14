import { useLocation } from "react-router";
import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/visit";
import { LanguageLinks } from "./language-links";
import { findPrefix } from "./languages";
import { TEXTS } from "./texts";

/** Each language has its own cache entry, also in caches in front, since each has its own path. */
export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const meta = ({ location }: Route.MetaArgs) => [{ title: TEXTS[findPrefix(location.pathname) ?? "en"].title }];

export default function Visit() {
  const texts = TEXTS[findPrefix(useLocation().pathname) ?? "en"];
  return (
    <main>
      <h1>{texts.title}</h1>
      <p>{texts.intro}</p>
      <h2>{texts.way}</h2>
      <p>{texts.tram}</p>
      <LanguageLinks label={texts.languages} />
    </main>
  );
}
