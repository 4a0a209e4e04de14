import { Form, useLocation } from "react-router";
import { LANGUAGES } from "./languages";
import { TEXTS } from "./texts";
import { useLanguage } from "./use-language";

const NAMES = { en: "English", de: "Deutsch", fr: "Français" };

/** For a page with `VARIANTS`, or for the layout around such pages. */
export function LanguageChoice() {
  const { pathname, search } = useLocation();
  const language = useLanguage();
  const texts = TEXTS[language];
  return (
    <Form method="post" action="/language">
      <input type="hidden" name="next" value={pathname + search} />
      <label htmlFor="language">{texts.language}</label>
      {/* With the key, the list shows the language of the page, also after a change. */}
      <select id="language" name="language" defaultValue={language} key={language}>
        {LANGUAGES.map((value) => (
          <option key={value} value={value} lang={value}>
            {NAMES[value]}
          </option>
        ))}
        <option value="browser">{texts.asInBrowser}</option>
      </select>
      <button type="submit">{texts.choose}</button>
    </Form>
  );
}
