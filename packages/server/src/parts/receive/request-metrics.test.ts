import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { Response } from "express";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createExpress } from "../../express.ts";
import { measureProcess } from "../../process/process-metrics.ts";
import { measureParts } from "../render/measure-parts.ts";
import { writeReadableStreamToWritable } from "../render/streams/react-router-node.ts";
import { accessLog } from "./access-log.ts";
import { measureRequests } from "./request-metrics.ts";

const readAbandoned = async (registry: Registry) =>
  (await registry.metrics()).match(/^requests_abandoned_total.*$/gm)?.toSorted();

test.each([
  ["got no response for 8 s", [undefined, 8, true], 1],
  ["left at once, for another link", [undefined, 0.9, true], 0],
  ["waited for the rest of a page", [200, 8, true], 1],
  ["cancelled an upload", [undefined, 8, false], 0],
  ["closed an event stream", [200, 60, false], 0],
] as const)("of a client that %s, the route has the right count", async (_what, [status, seconds, waited], count) => {
  const registry = new Registry();
  const record = measureRequests(registry, ["/", "/slow"]);
  record("GET", status, "/slow", "aborted", seconds, waited);
  expect(await readAbandoned(registry)).toEqual([
    'requests_abandoned_total{http_route="/"} 0',
    `requests_abandoned_total{http_route="/slow"} ${count}`,
  ]);
});

test("abandoned requests to an own router count from 0, and its routes have a limit", async () => {
  const registry = new Registry();
  const record = measureRequests(registry, []);
  record("GET", 200, "/api", undefined, 8, false);
  expect(await readAbandoned(registry)).toEqual(['requests_abandoned_total{http_route="/api"} 0']);
  for (let i = 0; i < 1000; i += 1) record("GET", undefined, `/api/${i}`, "aborted", 8, true);
  expect((await readAbandoned(registry))?.length).toBeLessThan(110);
});

/** Opens a connection to a server that measures its requests. */
async function open(respond: (res: Response) => unknown) {
  const registry = new Registry();
  const recordRequest = measureRequests(registry, [""]);
  const handle = accessLog({ log: pino({ level: "silent" }), recordRequest, trustProxy: () => false });
  let isClosed = false;
  const app = createExpress().use((req, res) => {
    handle(req, res);
    res.on("close", () => {
      isClosed = true;
    });
    return respond(res);
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("close", () => server.close());
  return { server, socket, registry, isClosed: () => isClosed };
}

test.each([
  ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", 1],
  ["POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf", 0],
])("of a client that leaves after a second, the server counts %j as %d abandoned", async (bytes, count) => {
  const { server, socket, registry, isClosed } = await open(() => {});
  socket.write(bytes);
  await once(server, "request");
  await setTimeout(1200);
  socket.destroy();
  await expect.poll(isClosed).toBe(true);
  expect(await readAbandoned(registry)).toEqual([`requests_abandoned_total{http_route=""} ${count}`]);
});

/** A source that has more to come, and one that is complete and larger than the buffers of a connection. */
const SOURCES = {
  waiting: () => new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("first")) }),
  complete: () => new Blob([Buffer.alloc(50e6)]).stream(),
};

test.concurrent.for([
  ["of a page", "text/html; charset=utf-8", "waiting", 1],
  ["of a page's data", "text/x-script", "waiting", 1],
  ["of an event stream", "text/event-stream", "waiting", 0],
  ["of a page that is only read slowly", "text/html; charset=utf-8", "complete", 0],
] as const)(
  "a client that leaves before the rest %s counts as it should",
  async ([, type, source, count], { expect }) => {
    const { socket, registry, isClosed } = await open((res) =>
      writeReadableStreamToWritable(SOURCES[source](), res.type(type)),
    );
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
    socket.pause();
    await setTimeout(1200);
    socket.destroy();
    await expect.poll(isClosed).toBe(true);
    expect(await readAbandoned(registry)).toEqual([`requests_abandoned_total{http_route=""} ${count}`]);
  },
);

test("a further route makes /metrics at most 14 KB longer, and a further status 4 KB", async () => {
  const measure = async (routes: string[], statuses: number[]) => {
    const registry = new Registry();
    const [record, recordPart] = [measureRequests(registry, routes), measureParts(registry)];
    for (const route of routes) {
      for (const status of statuses) record("GET", status, route, undefined, 0.1, true);
      for (const part of ["loader", "action", "render"]) recordPart(part, route, 0.1);
    }
    return (await registry.metrics()).length;
  };
  const [one, two] = [await measure(["/events/:id"], []), await measure(["/events/:id", "/posts/:id"], [])];
  expect(two - one).toBeLessThan(14_000);
  expect((await measure(["/events/:id"], [404])) - one).toBeLessThan(4000);
});

test("the metrics of Node and the process are there once", async () => {
  const registry = new Registry();
  measureProcess(registry, { version: "1", revision: "a" });
  const names = (await registry.getMetricsAsJSON()).map(({ name }) => name);
  expect(names).toContain("nodejs_active_resources");
  expect(names.filter((name) => /active_(handles|requests)/.test(name))).toEqual([]);
  expect(names).toEqual([...new Set(names)]);
});
