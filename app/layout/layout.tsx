import { SiteLayout } from "./site-layout";

/** The pages that the header links to. Add yours. */
const LINKS = [{ to: "/", text: "Home" }];

export default function Layout() {
  return <SiteLayout links={LINKS} />;
}
