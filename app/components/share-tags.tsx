import { useOrigin } from "react-router-express-server/app";

/** The canonical URL of a page, and the picture of a shared link: previews on other sites need absolute URLs. */
export function ShareTags({ path, picture }: { path: string; picture: { src: string; alt: string } }) {
  const origin = useOrigin();
  if (origin === undefined) return null;
  const home = origin + import.meta.env.BASENAME.slice(0, -1);
  return (
    <>
      <link rel="canonical" href={home + path} />
      <meta property="og:url" content={home + path} />
      <meta property="og:image" content={home + picture.src} />
      <meta property="og:image:alt" content={picture.alt} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}
