import { useHref } from "react-router";
import { useOrigin } from "react-router-express-server/app";

/** The canonical URL of a page, and the picture of a shared link: previews on other sites need absolute URLs. */
export function ShareTags({ path, picture }: { path: string; picture: { src: string; alt: string } }) {
  const origin = useOrigin();
  const [url, pictureUrl] = [origin + useHref(path), origin + useHref(picture.src)];
  if (origin === undefined) return null;
  return (
    <>
      <link rel="canonical" href={url} />
      <meta property="og:url" content={url} />
      <meta property="og:image" content={pictureUrl} />
      <meta property="og:image:alt" content={picture.alt} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}
