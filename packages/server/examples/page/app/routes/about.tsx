import { Fragment } from "react";
import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/about";

/** Everybody gets the same page, from memory. Delete this for a page that differs by user. */
export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

const TITLE = "About us";
const DESCRIPTION = "Who we are, how we work, and how to reach us.";

export const meta: Route.MetaFunction = () => [
  { title: TITLE },
  { name: "description", content: DESCRIPTION },
  { property: "og:title", content: TITLE },
  { property: "og:description", content: DESCRIPTION },
];

const STEPS = [
  { name: "Listen", text: "We meet where you work, and ask what takes too long." },
  { name: "Try", text: "Within two weeks, you hold something that works." },
  { name: "Stay", text: "We look after it for as long as you use it." },
];

/** The layout styles the elements, so they need no classes. */
export default function About() {
  return (
    <main>
      <h1>{TITLE}</h1>
      <p>We are a small workshop for things that last. Since 2019, from a yard behind the old mill.</p>

      <h2>How we work</h2>
      <dl>
        {STEPS.map(({ name, text }) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </Fragment>
        ))}
      </dl>
      <blockquote>
        <p>They asked three questions, and the problem was gone.</p>
      </blockquote>

      <h2>Where to find us</h2>
      <address>
        Mill Lane 7, Greenfield
        <br />
        <a href="mailto:hello@example.org">hello@example.org</a>
      </address>
    </main>
  );
}
