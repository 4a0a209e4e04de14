import type { Route } from "./+types/hostile";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": "s-maxage=60" });

const HTML = "<script>document.title = 'stolen'</script>";

/** Stored text of an attacker: each script would change the page's title. */
export const meta: Route.MetaFunction = () => [{ title: "Untouched" }, { name: "description", content: HTML }];

export default function Hostile() {
  return (
    <main>
      <h1 title={HTML}>{HTML}</h1>
      <div dangerouslySetInnerHTML={{ __html: HTML }} />
      <div dangerouslySetInnerHTML={{ __html: HTML.replace("<script", '<script nonce="guessed"') }} />
    </main>
  );
}
