import { Tooltip } from "../tooltip";
import type { Route } from "./+types/about";

// The page is the same for everyone, so it is rendered once, at start, and served from memory.
export const handle = { renderOnce: true };

export const meta: Route.MetaFunction = () => [{ title: "About" }];

export default function About() {
  return (
    <main className="screen">
      <h1>About</h1>
      <Tooltip text="Since 2026">
        <button type="button">How old is it?</button>
      </Tooltip>
    </main>
  );
}
