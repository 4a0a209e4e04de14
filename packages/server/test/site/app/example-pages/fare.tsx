import { CACHED_FOR_A_MINUTE, type Handle } from "react-router-express-server/app";
import type { Route } from "./+types/fare";

export const headers = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const handle = {
  variants: { "Accept-Language": ["en", "de"], Cookie: { currency: ["EUR", "USD"] } },
} satisfies Handle;

export function loader({ request, params }: Route.LoaderArgs) {
  if (params.city === "nowhere") throw new Error("no such city");
  if (params.city === "members") request.headers.get("Authorization");
  const [cookie, language] = [request.headers.get("Cookie"), request.headers.get("Accept-Language")];
  return { cookie, language, names: [...request.headers.keys()] };
}

export const meta: Route.MetaFunction = () => [{ title: "Fare" }];

export default function Fare({ loaderData: { cookie, language, names } }: Route.ComponentProps) {
  return (
    <main>
      <h1>Fare</h1>
      <p>{`${cookie} ${language}`}</p>
      <p>{names.join()}</p>
    </main>
  );
}
