// Purges of operators in three processes with a real Redis or PostgreSQL, which stops and starts, or which one of the
// processes can't reach (docs/operating.md).

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { startCutProxy } from "./support/cut-proxy.ts";
import { createPostgres, type Postgres } from "./support/postgres.ts";
import { readMetric } from "./support/process-metrics.ts";
import { startRedis } from "./support/redis.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** Cached for a day, and in no group. Each render differs. */
const STAMP = `export const headers = () => ({ "Cache-Control": "public, max-age=0, s-maxage=86400" });
export const loader = () => new Response(crypto.randomUUID());
`;
const IMPORTS = `import { createPostgresChannel } from "react-router-express-server/postgres";
import { createRedisCache } from "react-router-express-server/redis";
import`;
const CONNECT = `shutdown, cache }) {
    const url = process.env.CHANNEL_URL ?? "";
    cache.connect(url.startsWith("redis:") ? createRedisCache({ url }) : createPostgresChannel({ url }));`;
const BUILD_TIMEOUT_MS = 300_000;
const KEYS = expect.arrayContaining(["/stamps/1"]);

let folder: string;
let postgres: Postgres;

beforeAll(async () => {
  folder = copySite();
  writeFileSync(`${folder}/app/routes/stamp.ts`, STAMP);
  const edit = (file: string, from: string, to: string) =>
    writeFileSync(`${folder}/${file}`, readFileSync(`${folder}/${file}`, "utf8").replace(from, to));
  edit("app/routes.ts", 'route("/",', 'route("/stamps/:id", "routes/stamp.ts"),\n  route("/",');
  edit("server.ts", "import", IMPORTS);
  edit("server.ts", "shutdown }) {", CONNECT);
  postgres = await createPostgres();
  await build(folder);
}, BUILD_TIMEOUT_MS);

afterAll(async () => {
  await postgres?.remove();
  if (folder) rmSync(folder, { recursive: true });
});

/** A service that can stop and start at its URL. */
const SERVICES = {
  async Redis() {
    let redis = await startRedis();
    return {
      url: redis.url,
      stop: () => redis.kill(),
      async start() {
        redis = await startRedis(redis.port);
      },
    };
  },
  async PostgreSQL() {
    await postgres.start();
    return postgres;
  },
};

/** Starts three processes. The last reaches the service through a proxy that can be cut. */
async function startThree(url: string) {
  const proxy = await startCutProxy(Number(new URL(url).port));
  const start = (CHANNEL_URL: string) => startServer({ CHANNEL_URL }, folder);
  const cutUrl = url.replace(new URL(url).host, proxy.host);
  const servers = await Promise.all([start(url), start(url), start(cutUrl)] as const);
  onTestFinished(() => {
    proxy.stop();
    for (const { child } of servers) child.kill("SIGKILL");
  });
  const [first] = servers;
  return {
    servers,
    proxy,
    names: servers.map(nameOf),
    readConnected: () => Promise.all(servers.map((server) => readMetric(server, "page_cache_channel_connected"))),
    async purge(query: string): Promise<[number, { confirmed: string[] }]> {
      const response = await fetch(`${first.opsUrl}/cache/invalidate?${query}`, { method: "POST" });
      return [response.status, await response.json()];
    },
  };
}

const nameOf = ({ child }: RunningServer) => `${hostname()} (process ${child.pid})`;
const inAnyOrder = (names: string[]) =>
  expect.toSatisfy((given: string[]) => `${[...given].sort()}` === `${[...names].sort()}`);
const read = async ({ url }: RunningServer) => (await fetch(`${url}/stamps/1`)).text();

test.each([
  ["Redis", "path=/stamps/1"],
  ["Redis", "prefix=/stamps/"],
  ["Redis", "all"],
  ["PostgreSQL", "path=/stamps/1"],
] as const)(
  "with %s, a purge of %s names each process, which learns it also after the service was down",
  async (name, query) => {
    const service = await SERVICES[name]();
    onTestFinished(service.stop);
    const { servers, names, readConnected, purge } = await startThree(service.url);
    const [first] = servers;
    const readAll = () => Promise.all(servers.map(read));
    const countNew = async (before: string[]) =>
      (await readAll()).filter((stamp, index) => stamp !== before[index]).length;
    const CONFIRMED = [
      200,
      {
        invalidated: expect.any(Number),
        keys: KEYS,
        others: "published",
        confirmed: inAnyOrder(names),
        unconfirmed: [],
      },
    ];

    await expect.poll(readConnected).toEqual([1, 1, 1]);
    // Each learns the others' names within a second or two.
    await expect.poll(async () => (await purge("group=none"))[1].confirmed, { timeout: 10_000 }).toHaveLength(3);
    let before = await readAll();
    expect(await countNew(before)).toBe(0);
    expect(await purge(query)).toEqual(CONFIRMED);
    await expect.poll(() => countNew(before)).toBe(3);

    await service.stop();
    await expect.poll(readConnected).toEqual([0, 0, 0]);
    before = await readAll();
    expect(await purge(query)).toEqual([202, { invalidated: expect.any(Number), keys: KEYS, others: "waiting" }]);
    expect(await countNew(before)).toBe(1);
    await service.start();
    await expect.poll(() => countNew(before)).toBe(3);
    const isPublished = () => first.lines.some(({ msg }) => msg === "cache invalidations published");
    await expect.poll(isPublished).toBe(true);
    await expect.poll(readConnected).toEqual([1, 1, 1]);

    before = await readAll();
    expect(await purge(query)).toEqual(CONFIRMED);
    await expect.poll(() => countNew(before)).toBe(3);
    // A process that has ended isn't missed.
    expect(await servers[2].stop()).toBe(0);
    expect(await purge("group=none")).toEqual([
      200,
      expect.objectContaining({ confirmed: inAnyOrder(names.slice(0, 2)), unconfirmed: [] }),
    ]);
    expect(await Promise.all(servers.slice(0, 2).map(({ stop }) => stop()))).toEqual([0, 0]);
  },
);

test.each([
  ["Redis", "is frozen"],
  ["Redis", "has lost the channel"],
  ["PostgreSQL", "is frozen"],
  ["PostgreSQL", "has lost the channel"],
] as const)("with %s, a purge names the process that %s, which learns it once that is over", async (name, trouble) => {
  const service = await SERVICES[name]();
  onTestFinished(service.stop);
  const { servers, proxy, names, readConnected, purge } = await startThree(service.url);
  const [first, second, third] = servers;
  await expect.poll(readConnected).toEqual([1, 1, 1]);
  await expect.poll(async () => (await purge("group=none"))[1].confirmed, { timeout: 10_000 }).toHaveLength(3);
  const before = await Promise.all(servers.map(read));

  if (trouble === "is frozen") third.child.kill("SIGSTOP");
  else proxy.cut();
  const confirmed = inAnyOrder([nameOf(first), nameOf(second)]);
  const answer = { keys: KEYS, others: "unconfirmed", confirmed, unconfirmed: [names[2]] };
  expect(await purge("all")).toEqual([202, expect.objectContaining(answer)]);
  expect(await read(second)).not.toBe(before[1]);

  if (trouble === "is frozen") third.child.kill("SIGCONT");
  else proxy.restore();
  await expect.poll(() => read(third), { timeout: 30_000 }).not.toBe(before[2]);
  await expect.poll(async () => (await purge("all"))[0], { timeout: 30_000 }).toBe(200);
  expect((await purge("all"))[1].confirmed).toEqual(inAnyOrder(names));
});
