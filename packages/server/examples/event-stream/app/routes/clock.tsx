import { useEffect, useState } from "react";
import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/clock";

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const meta: Route.MetaFunction = () => [{ title: "The server’s time" }];

export default function Clock() {
  const { time, isConnected } = useTicks();
  return (
    <main>
      <h1>The server’s time</h1>
      {/* The server renders no time, since it has neither the user's time zone nor their format. */}
      <p>{time ? <time dateTime={time}>{new Date(time).toLocaleTimeString()}</time> : "Connecting…"}</p>
      <p role="status">{time && !isConnected ? "The connection is lost. It comes back by itself." : ""}</p>
    </main>
  );
}

/** The latest event. Browsers connect again by themselves, also after a restart of the server. */
function useTicks() {
  const [time, setTime] = useState<string>();
  const [isConnected, setConnected] = useState(false);
  useEffect(() => {
    const events = new EventSource(`${import.meta.env.BASENAME}/ticks`);
    events.onopen = () => setConnected(true);
    events.onerror = () => setConnected(false);
    events.onmessage = ({ data }) => setTime(data);
    return () => events.close();
  }, []);
  return { time, isConnected };
}
