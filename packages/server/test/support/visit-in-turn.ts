import type { RunningServer } from "./start-server.ts";

const CLIENTS = 4;
/** A request is delayed if it takes this much longer than 99 % of the control's. */
const DELAY_MS = 100;

type Options = {
  /** Each client requests a path from one server after the other, and from the control, which nothing disturbs. */
  servers: RunningServer[];
  control: RunningServer;
  /** To the servers. */
  requests: number;
  toPath: (request: number) => string;
  /** What happens before a request. */
  events: Record<number, () => unknown>;
};

/** Requests pages while something happens. Resolves with what isn't 200, and with the share of delayed requests. */
export async function visitInTurn({ servers, control, requests, toPath, events }: Options) {
  const failures: string[] = [];
  const visit = async ({ url }: RunningServer, path: string) => {
    const startedAt = performance.now();
    const response = await fetch(url + path);
    await response.arrayBuffer();
    if (response.status !== 200) failures.push(`${path}: ${response.status}`);
    return performance.now() - startedAt;
  };
  const times: number[] = [];
  const controlTimes: number[] = [];
  let next = 0;
  const client = async () => {
    while (next < requests) {
      const request = next++;
      await events[request]?.();
      times.push(await visit(servers[request % servers.length] as RunningServer, toPath(request)));
      if (request % servers.length === 0) controlTimes.push(await visit(control, toPath(request)));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const usual = controlTimes.toSorted((a, b) => a - b)[Math.floor(controlTimes.length * 0.99)] ?? Number.NaN;
  const delayed = times.filter((time) => time > usual + DELAY_MS);
  return { failures, delayedShare: delayed.length / times.length };
}
