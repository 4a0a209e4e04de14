import { CACHED_FOR_A_MINUTE, type Handle } from "react-router-express-server/app";
import type { Route } from "./+types/repairs";
import { LanguageChoice } from "./language-choice";
import { findLanguage, VARIANTS } from "./languages";
import { TEXTS } from "./texts";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const handle = { variants: VARIANTS } satisfies Handle;

export const loader = ({ request }: Route.LoaderArgs) => ({ language: findLanguage(request), waiting: 4 });

export const meta = ({ loaderData }: Route.MetaArgs) => [{ title: TEXTS[loaderData?.language ?? "en"].title }];

export default function Repairs({ loaderData: { language, waiting } }: Route.ComponentProps) {
  const texts = TEXTS[language];
  const price = new Intl.NumberFormat(language, { minimumFractionDigits: 2 });
  return (
    <main>
      <h1>{texts.title}</h1>
      <p>{texts.intro}</p>
      <p>{texts.waiting(waiting)}</p>
      <h2>{texts.prices}</h2>
      <table>
        <tbody>
          <tr>
            <th scope="row">{texts.tyre}</th>
            <td>{price.format(38.5)} €</td>
          </tr>
          <tr>
            <th scope="row">{texts.brakes}</th>
            <td>{price.format(24)} €</td>
          </tr>
        </tbody>
      </table>
      <LanguageChoice />
    </main>
  );
}
