import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import { listNews } from "../content.server";
import { escapeXml } from "../xml";
import type { Route } from "./+types/feed";

const TITLE = "News";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

/** Atom: RFC 4287. */
export async function loader({ url }: Route.LoaderArgs) {
  const news = await listNews();
  const entries = news.map(({ path, title, updated }) => {
    const href = escapeXml(new URL(`.${path}`, url).href);
    return `<entry>
  <id>${href}</id>
  <title>${escapeXml(title)}</title>
  <updated>${updated}</updated>
  <link href="${href}" />
</entry>`;
  });
  const xml = `<feed xmlns="http://www.w3.org/2005/Atom">
<id>${new URL("./", url).href}</id>
<title>${escapeXml(TITLE)}</title>
<author><name>${escapeXml(TITLE)}</name></author>
<updated>${news[0]?.updated ?? "1970-01-01T00:00:00Z"}</updated>
<link rel="self" href="${new URL("./feed.xml", url).href}" />
${entries.join("\n")}
</feed>
`;
  return new Response(xml, { headers: { "Content-Type": "application/atom+xml" } });
}
