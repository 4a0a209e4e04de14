import { useOrigin } from "react-router-express-server/app";

/** The canonical URL of a page, and the picture of a shared link: previews on other sites need absolute URLs. */
export function ShareTags({ path, picture }: { path: string; picture: { src: string; alt: string } }) {
  const origin = useOrigin();
  if (origin === undefined) return null;
  return (
    <>
      <link rel="canonical" href={origin + import.meta.env.BASENAME + path} />
      <meta property="og:url" content={origin + import.meta.env.BASENAME + path} />
      <meta property="og:image" content={origin + import.meta.env.BASENAME + picture.src} />
      <meta property="og:image:alt" content={picture.alt} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}
