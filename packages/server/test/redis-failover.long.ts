// Two processes that share cached pages in Redis, while its replica takes over (docs/caching.md).
import { once } from "node:events";
import { rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { buildWithRoutes } from "./support/build-with-routes.ts";
import { startRedis } from "./support/redis.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";
import { visitInTurn } from "./support/visit-in-turn.ts";

const SERVER = fileURLToPath(new URL("redis/server.ts", import.meta.url));
const REQUESTS = 10_000;
const MAX_DELAYED_SHARE = 0.01;
const ROUTE = `export const headers = () => ({
  "Cache-Control": "public, max-age=0, s-maxage=86400",
  "Cache-Groups": '"count"',
});
export const loader = () => new Response(String(process.hrtime.bigint()));
`;

/** Forwards connections to a port that can change, as the address of a managed Redis. */
async function startAddress(port: number) {
  const sockets = new Set<Socket>();
  let target = port;
  const proxy = createServer((socket) => {
    const upstream = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {}).on("close", () => sockets.delete(one) && other.destroy());
      one.pipe(other);
    }
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void proxy.close());
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    switchTo(other: number) {
      target = other;
      for (const socket of sockets) socket.destroy();
    },
  };
}

const get = async ({ url }: RunningServer, path: string) => {
  const response = await fetch(url + path);
  return { status: response.status, text: await response.text() };
};

test("while a replica of Redis takes over, no request fails, as good as none is delayed, and then the processes share pages and edits again", async () => {
  const folder = await buildWithRoutes(SERVER, { "/count/:id": ROUTE });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [primary, replica] = [await startRedis(), await startRedis()];
  onTestFinished(async () => {
    await Promise.all([primary.kill(), replica.kill()]);
  });
  await replica.send("CONFIG", "SET", "repl-diskless-load", "on-empty-db"); // It writes no file.
  await replica.send("REPLICAOF", "127.0.0.1", String(primary.port));
  await expect.poll(() => replica.send("INFO", "replication")).toContain("master_link_status:up");
  const address = await startAddress(primary.port);
  const start = () => startServer({ REDIS_URL: address.url }, folder);
  const servers = await Promise.all([start(), start()]);
  onTestFinished(async () => {
    await Promise.all(servers.map(({ stop }) => stop()));
  });
  const getAll = async (path: string) => await Promise.all(servers.map((server) => get(server, path)));
  const countPages = async (path: string) => new Set((await getAll(path)).map(({ text }) => text)).size;
  let id = 0;
  // A page each, since a process that Redis once answered too late keeps its own.
  const countNewPages = () => countPages(`/count/new-${id++}`);
  const countConnected = async () => {
    const texts = await Promise.all(servers.map(async ({ opsUrl }) => (await fetch(`${opsUrl}/metrics`)).text()));
    return texts.filter((text) => text.includes("\npage_cache_channel_connected 1\n")).length;
  };
  await expect.poll(countConnected).toBe(2);
  await expect.poll(countNewPages).toBe(1);

  const other = await startRedis();
  const control = await startServer({ REDIS_URL: other.url }, folder);
  onTestFinished(async () => {
    await Promise.all([control.stop(), other.kill()]);
  });
  const { failures, delayedShare } = await visitInTurn({
    servers,
    control,
    requests: REQUESTS,
    // Every 20th page is new.
    toPath: (request) => `/count/${request % 20 === 0 ? request : request % 50}`,
    events: {
      [REQUESTS / 5]: () => primary.kill(),
      async [(REQUESTS * 2) / 5]() {
        await replica.send("REPLICAOF", "NO", "ONE");
        address.switchTo(replica.port);
      },
    },
  });
  expect(failures).toEqual([]);
  expect(delayedShare).toBeLessThan(MAX_DELAYED_SHARE);

  await expect.poll(countConnected).toBe(2);
  await expect.poll(countNewPages).toBe(1);
  const before = await getAll("/count/shared");
  const edit = () => fetch(`${servers[0].opsUrl}/cache/invalidate?group=count`, { method: "POST" });
  await edit();
  const isOld = async () => (await getAll("/count/shared")).some(({ text }) => before.some((old) => old.text === text));
  await expect.poll(isOld).toBe(false);
  await expect.poll(() => edit().then(() => countPages("/count/shared"))).toBe(1);
});
