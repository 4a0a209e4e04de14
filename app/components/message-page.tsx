import { useEffect } from "react";
import { Link, useLocation } from "react-router";
import { WavingHand } from "./waving-hand";

type Props = { heading: string; text: string };

/** A page with a short message and a link to home. A hand waves from behind its heading. */
export function MessagePage({ heading, text }: Props) {
  return (
    <main className="screen">
      <WavingHand />
      <h1>{heading}</h1>
      <p>{text}</p>
      {/* Prefetches Home, so that the click needs no request. */}
      <Link to="/" prefetch="render">
        Return to Home
      </Link>
    </main>
  );
}

/** The not-found page, for unknown paths and for loaders that throw 404. */
export function NotFoundPage() {
  const location = useLocation();
  useEffect(() => {
    // A separate argument: in the format string, "%c" of a path would be a directive.
    console.error("Page not found:", location.pathname);
  }, [location]);
  return <MessagePage heading="404" text="Oops! Page not found" />;
}
