import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import { listPaths } from "../content.server";
import { escapeXml } from "../xml";
import type { Route } from "./+types/sitemap";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

/** https://www.sitemaps.org/protocol.html */
export async function loader({ url }: Route.LoaderArgs) {
  const urls = (await listPaths()).map((path) => `<url><loc>${escapeXml(new URL(`.${path}`, url).href)}</loc></url>`);
  const xml = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join("\n")}\n</urlset>\n`;
  return new Response(xml, { headers: { "Content-Type": "application/xml" } });
}
