import { Link } from "react-router";

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
