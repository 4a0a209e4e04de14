import { once } from "node:events";
import type { Handle } from "react-router-express-server/app";
import type { Route } from "./+types/start";

/** The mistake that `START` names. */
const WRONG: Record<string, object> = {
  "adds-header": { securityHeaders: { "Content-Security-Policy": "img-src self" } },
  "misspells-key": { securityHeader: {} },
  "has-other-type": { acceptsCrossOrigin: true },
  "has-other-method": { acceptsCrossOrigin: ["POST", "GET"] },
  "has-no-action": { acceptsCrossOrigin: ["POST"] },
  "has-other-key": { cacheKey: "/example-pages/about" },
};

export const handle: Handle = import.meta.env.SSR ? { ...WRONG[process.env.START ?? ""] } : {};

/** Loads while the server starts. With `START=waits`, it waits until the process gets SIGUSR2. */
export async function loader() {
  if (process.env.START === "fails") throw new Error("no page without its data");
  if (process.env.START === "waits") {
    const signal = once(process, "SIGUSR2");
    console.log(JSON.stringify({ msg: "loading the start page" }));
    await signal;
  }
  return null;
}

export const headers: Route.HeadersFunction = () => ({
  "Cache-Control": "public, max-age=600, s-maxage=600",
  "X-Frame-Options": "SAMEORIGIN",
  "X-Robots-Tag": "noindex",
  ...(process.env.START === "sets-cookie" && { "Set-Cookie": "visitor=1" }),
});

export const meta: Route.MetaFunction = () => [{ title: "Start" }];

export default function Start() {
  return (
    <main>
      <h1>Start</h1>
    </main>
  );
}
