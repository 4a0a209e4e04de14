// Purges of operators in three processes whose channel is a real Redis, which stops and starts (docs/operating.md).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { findFreePort } from "react-router-express-server/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { readMetric } from "./support/process-metrics.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** Cached for a day, and in no group. Each render differs. */
const STAMP = `export const headers = () => ({ "Cache-Control": "public, max-age=0, s-maxage=86400" });
export const loader = () => new Response(crypto.randomUUID());
`;
const BUILD_TIMEOUT_MS = 300_000;

let folder: string;

beforeAll(async () => {
  folder = copySite();
  writeFileSync(`${folder}/app/routes/stamp.ts`, STAMP);
  const edit = (file: string, from: string, to: string) =>
    writeFileSync(`${folder}/${file}`, readFileSync(`${folder}/${file}`, "utf8").replace(from, to));
  edit("app/routes.ts", 'route("/",', 'route("/stamps/:id", "routes/stamp.ts"),\n  route("/",');
  edit("server.ts", "import", 'import { createRedisCache } from "react-router-express-server/redis";\nimport');
  edit(
    "server.ts",
    "shutdown }) {",
    'shutdown, cache }) {\n    cache.connect(createRedisCache({ url: process.env.REDIS_URL ?? "" }));',
  );
  await build(folder);
}, BUILD_TIMEOUT_MS);

afterAll(() => folder && rmSync(folder, { recursive: true }));

async function startRedis(port: number) {
  const redis = spawn("redis-server", ["--port", String(port), "--save", ""], { stdio: "ignore" });
  return {
    async stop() {
      redis.kill("SIGTERM");
      await once(redis, "exit");
    },
  };
}

test.each(["path=/stamps/1", "prefix=/stamps/", "all"])(
  "a purge of %s answers what happened, and every process learns it, also after Redis was down",
  async (query) => {
    const port = await findFreePort();
    let redis = await startRedis(port);
    const start = () => startServer({ REDIS_URL: `redis://127.0.0.1:${port}` }, folder);
    const servers = await Promise.all([start(), start(), start()]);
    const [first, ...others] = servers as [RunningServer, ...RunningServer[]];
    const readAll = () => Promise.all(servers.map(async ({ url }) => (await fetch(`${url}/stamps/1`)).text()));
    const connected = () => Promise.all(servers.map((server) => readMetric(server, "page_cache_channel_connected")));
    const purge = async () => {
      const response = await fetch(`${first.opsUrl}/cache/invalidate?${query}`, { method: "POST" });
      return [response.status, await response.json()];
    };
    const keys = expect.arrayContaining(["/stamps/1"]);
    const countNew = async (before: string[]) =>
      (await readAll()).filter((stamp, index) => stamp !== before[index]).length;

    await expect.poll(connected).toEqual([1, 1, 1]);
    let before = await readAll();
    expect(await countNew(before)).toBe(0);
    expect(await purge()).toEqual([200, expect.objectContaining({ keys, others: "published", receivers: 3 })]);
    await expect.poll(() => countNew(before)).toBe(3);

    await redis.stop();
    await expect.poll(connected).toEqual([0, 0, 0]);
    before = await readAll();
    expect(await purge()).toEqual([202, expect.objectContaining({ keys, others: "waiting" })]);
    expect(await countNew(before)).toBe(1);
    redis = await startRedis(port);
    await expect.poll(() => countNew(before)).toBe(3);
    const isPublished = () => first.lines.some(({ msg }) => msg === "cache invalidations published");
    await expect.poll(isPublished).toBe(true);
    await expect.poll(connected).toEqual([1, 1, 1]);

    before = await readAll();
    expect(await purge()).toEqual([200, expect.objectContaining({ keys, others: "published", receivers: 3 })]);
    await expect.poll(() => countNew(before)).toBe(3);
    expect(await Promise.all([first, ...others].map(({ stop }) => stop()))).toEqual([0, 0, 0]);
    await redis.stop();
  },
);
