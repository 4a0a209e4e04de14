import { CACHED_FOR_A_MINUTE, type Handle } from "react-router-express-server/app";
import type { Route } from "./+types/hello";

export const headers = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE, "No-Vary-Search": "params" });

export const handle = { variants: { "Accept-Language": ["en", "de", "zh"] } } satisfies Handle;

const HELLO: Record<string, string> = { en: "Hello", de: "Hallo", zh: "你好" };

export function loader({ request }: Route.LoaderArgs) {
  const language = request.headers.get("Accept-Language") ?? "en";
  return { language, hello: HELLO[language] };
}

export const meta: Route.MetaFunction = () => [{ title: "Hello" }];

export default function Hello({ loaderData: { language, hello } }: Route.ComponentProps) {
  return (
    <main lang={language}>
      <h1>{hello}</h1>
    </main>
  );
}
