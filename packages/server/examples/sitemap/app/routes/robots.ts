import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/robots";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export function loader({ url }: Route.LoaderArgs) {
  const text = `User-agent: *\nAllow: /\n\nSitemap: ${new URL("./sitemap.xml", url).href}\n`;
  return new Response(text, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
}
