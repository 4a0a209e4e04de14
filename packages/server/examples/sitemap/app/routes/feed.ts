import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import { listNews } from "../content.server";
import { escapeXml } from "../xml";
import type { Route } from "./+types/feed";

const TITLE = "News";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

/** Atom: RFC 4287. */
export async function loader({ url: { origin } }: Route.LoaderArgs) {
  const news = await listNews();
  const entries = news.map(({ path, title, updated }) => {
    const url = escapeXml(origin + path);
    return `<entry>
  <id>${url}</id>
  <title>${escapeXml(title)}</title>
  <updated>${updated}</updated>
  <link href="${url}" />
</entry>`;
  });
  const xml = `<feed xmlns="http://www.w3.org/2005/Atom">
<id>${origin}/</id>
<title>${escapeXml(TITLE)}</title>
<author><name>${escapeXml(TITLE)}</name></author>
<updated>${news[0]?.updated ?? "1970-01-01T00:00:00Z"}</updated>
<link rel="self" href="${origin}/feed.xml" />
${entries.join("\n")}
</feed>
`;
  return new Response(xml, { headers: { "Content-Type": "application/atom+xml" } });
}
