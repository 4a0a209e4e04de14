import { useEffect } from "react";
import { Link, useLocation } from "react-router";

type Props = { heading: string; text: string };

/** A page that has only this to say, and the way home. */
export function MessagePage({ heading, text }: Props) {
  return (
    <main className="screen">
      <h1>{heading}</h1>
      <p>{text}</p>
      {/* Home is loaded beforehand, so that the click costs no request. */}
      <Link to="/" prefetch="render">
        Return to Home
      </Link>
    </main>
  );
}

/** The page for an address that has none, whichever way that is found out. */
export function NotFoundPage() {
  const location = useLocation();
  useEffect(() => {
    // An argument of its own: in the format string, "%c" of a path would be taken for a directive.
    console.error("Page not found:", location.pathname);
  }, [location]);
  return <MessagePage heading="404" text="Oops! Page not found" />;
}
