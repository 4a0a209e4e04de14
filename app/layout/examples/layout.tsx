import { SiteLayout } from "../site-layout";

const LINKS = [
  { to: "/example-pages/walks", text: "Walks" },
  { to: "/example-pages/book", text: "Book a place" },
];

export default function WalksLayout() {
  return <SiteLayout links={LINKS} />;
}
