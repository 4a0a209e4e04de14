import { Link, useLocation } from "react-router";
import { useOrigin } from "react-router-express-server/app";
import { findPrefix, LANGUAGES, NAMES, toPath } from "./languages";

/** For search engines: the page in each language, and the address that redirects. They need `ORIGIN`. */
function AlternateLinks({ path }: { path: string }) {
  const origin = useOrigin();
  if (origin === undefined) return null;
  const toHref = (target: string) => `${origin}${import.meta.env.BASENAME}${target}`;
  return (
    <>
      {LANGUAGES.map((language) => (
        <link key={language} rel="alternate" hrefLang={language} href={toHref(toPath(path, language))} />
      ))}
      <link rel="alternate" hrefLang="x-default" href={toHref(path.replace(/^\/[^/]*/, ""))} />
    </>
  );
}

/** Links to the page in the other languages. */
export function LanguageLinks({ label }: { label: string }) {
  const { pathname } = useLocation();
  const current = findPrefix(pathname);
  return (
    <nav aria-label={label}>
      <AlternateLinks path={pathname} />
      <ul>
        {LANGUAGES.filter((language) => language !== current).map((language) => (
          <li key={language}>
            <Link to={toPath(pathname, language)} hrefLang={language} lang={language}>
              {NAMES[language]}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
