import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import { eventsContext } from "../events.server";
import type { Route } from "./+types/events";

/** The job invalidates the group. */
export const headers: Route.HeadersFunction = () => ({
  "Cache-Control": CACHED_FOR_A_MINUTE,
  "Cache-Groups": '"events"',
});

export const loader = ({ context }: Route.LoaderArgs) => ({ events: context.get(eventsContext).list() });

export const meta: Route.MetaFunction = () => [{ title: "Events" }];

/** All users get the same text, so it names the time zone. */
const FORMAT = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "short", timeZone: "UTC" });

export default function Events({ loaderData }: Route.ComponentProps) {
  const { events } = loaderData;
  return (
    <main>
      <h1>Events</h1>
      <p>{events.length > 0 ? "All times are in UTC." : "Nothing is planned. Please come back."}</p>
      <ul>
        {events.map(({ title, start }) => (
          <li key={start}>
            <strong>{title}</strong>, <time dateTime={start}>{FORMAT.format(new Date(start))}</time>
          </li>
        ))}
      </ul>
    </main>
  );
}
