import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/mill";
import mill from "./mill.jpg?picture";
import { Picture } from "./picture";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const meta: Route.MetaFunction = () => [{ title: "The mill" }];

/** The width of the layout's column. */
const SIZES = "(max-width: 45rem) 90vw, 42rem";

export default function Mill() {
  return (
    <main>
      <h1>The mill</h1>
      <p>It has ground our flour since 1874.</p>
      <figure>
        <Picture picture={mill} alt="A windmill on green hills, in the light of the morning" sizes={SIZES} isFirst />
        <figcaption>At half past five in the morning.</figcaption>
      </figure>
      <p>Four sails turn the stone. On days without wind, the miller reads.</p>
    </main>
  );
}
