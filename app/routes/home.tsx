import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import { ShareTags } from "../components/share-tags";
import { WavingHand } from "../components/waving-hand";
import type { Route } from "./+types/home";

/** Cached. A release shows at once, and from caches in front within eleven minutes. */
export const headers: Route.HeadersFunction = () => ({
  "Cache-Control": CACHED_FOR_A_MINUTE,
  "No-Vary-Search": "params",
});

const TITLE = "Hello World";
const DESCRIPTION = "A friendly greeting, in English and Chinese, to every visitor.";

export const meta: Route.MetaFunction = () => [
  { title: TITLE },
  { name: "description", content: DESCRIPTION },
  { property: "og:title", content: TITLE },
  { property: "og:description", content: DESCRIPTION },
  { property: "og:type", content: "website" },
];

export default function Home() {
  return (
    <main className="screen">
      <ShareTags path="/" picture={{ src: "/preview.jpg", alt: TITLE }} />
      <h1>Hello World</h1>
      <p lang="zh-Hans">欢迎来到我的世界 🌍</p>
      <WavingHand />
      {import.meta.env.DEV && <small>Edit app/routes/home.tsx</small>}
    </main>
  );
}
