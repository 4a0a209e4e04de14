import type { RunningServer } from "./start-server.ts";

/** The value of a metric, by its name and labels as in /metrics. NaN if it doesn't exist. */
export async function readMetric({ opsUrl }: Pick<RunningServer, "opsUrl">, name: string) {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const line = text.split("\n").find((line) => line.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

/** The server's own metrics: memory in MB, and the number of sockets (with that of this request), timers and files. */
export async function readProcessMetrics({ opsUrl }: Pick<RunningServer, "opsUrl">) {
  const text = await (await fetch(`${opsUrl}/metrics`, { headers: { Connection: "close" } })).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1] ?? 0);
  return {
    residentMB: Math.round(read("process_resident_memory_bytes") / 1e6),
    heapMB: Math.round(read("nodejs_heap_size_used_bytes") / 1e6),
    sockets: read('nodejs_active_resources{type="TCPSocketWrap"}'),
    timers: read('nodejs_active_resources{type="Timeout"}'),
    resources: read("nodejs_active_resources_total"),
    files: read("process_open_fds"),
  };
}
