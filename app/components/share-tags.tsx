import { createContext, useContext } from "react";

const received = import.meta.env.SSR ? null : document.querySelector<HTMLLinkElement>("link[rel=canonical]");

/** The site's public origin, if the operator sets it: previews on other sites need absolute URLs. */
export const OriginContext = createContext(received ? new URL(received.href).origin : undefined);

/** The canonical URL of a page, and the picture of a shared link. */
export function ShareTags({ path, picture }: { path: string; picture: { src: string; alt: string } }) {
  const origin = useContext(OriginContext);
  if (origin === undefined) return null;
  return (
    <>
      <link rel="canonical" href={origin + path} />
      <meta property="og:url" content={origin + path} />
      <meta property="og:image" content={origin + picture.src} />
      <meta property="og:image:alt" content={picture.alt} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}
