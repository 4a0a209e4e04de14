import { setTimeout } from "node:timers/promises";
import { createContext } from "react-router";

const INTERVAL_MS = 60_000;

export type Event = { title: string; start: string };

/** What the job has loaded last. */
export const eventsContext = createContext<{ list: () => Event[] }>();

/** Yours: a request to another service, or a query. */
const loadEvents = async (): Promise<Event[]> => [
  { title: "Coffee tasting", start: "2027-03-20T10:00:00Z" },
  { title: "Cake for all", start: "2027-03-21T15:00:00Z" },
];

type Options = {
  log: { error: (fields: object, message: string) => void };
  cache: { invalidate: (groups: string[]) => Promise<unknown> };
  load?: typeof loadEvents;
  intervalMs?: number;
};

/** Loads the events at once, and again a minute after each load. */
export function startEvents({ log, cache, load = loadEvents, intervalMs = INTERVAL_MS }: Options) {
  let events: Event[] = [];
  const stopped = new AbortController();

  async function refresh() {
    events = await load();
    await cache.invalidate(["events"]); // The pages with these Cache-Groups are rendered again.
  }

  async function repeat() {
    while (!stopped.signal.aborted) {
      // After an error, the page shows the last events.
      await refresh().catch((err) => log.error({ err }, "loading the events failed"));
      await setTimeout(intervalMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  }

  const finished = repeat();
  return {
    list: () => events,
    /** Resolves when a run that has begun is finished. */
    stop() {
      stopped.abort();
      return finished;
    },
  };
}
