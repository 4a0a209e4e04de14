// Three processes behind deploy/nginx.conf and deploy/haproxy.cfg, while their database accepts connections, but answers
// nothing for a minute.
import { setMaxListeners } from "node:events";
import { rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { RunningProxy } from "../../../deploy/start-proxy.ts";
import { build } from "./support/build.ts";
import { copyDatabaseSite } from "./support/copy-database-site.ts";
import { startCutProxy } from "./support/cut-proxy.ts";
import { createPostgres, type Postgres } from "./support/postgres.ts";
import { readMetric } from "./support/process-metrics.ts";
import { startProxies } from "./support/proxies.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const CACHED_PATHS = ["/", "/events", "/events/opera", "/events/opera.data", "/nowhere"];
const FROZEN_MS = 60_000;
/** Each second, so many users of each proxy request a page that needs the database. */
const PRIVATE_VISITS = 3;
const BUILD_TIMEOUT_MS = 300_000;

let folder: string;
let postgres: Postgres;

beforeAll(async () => {
  folder = copyDatabaseSite();
  postgres = await createPostgres();
  await Promise.all([postgres.start(), build(folder)]);
  await postgres.query("CREATE TABLE users (id serial PRIMARY KEY, name text NOT NULL)");
  await postgres.query("CREATE TABLE events (slug text PRIMARY KEY, title text NOT NULL)");
  await postgres.query("INSERT INTO events VALUES ('opera', 'opera')");
}, BUILD_TIMEOUT_MS);

afterAll(async () => {
  await postgres?.remove();
  if (folder) rmSync(folder, { recursive: true });
});

test("while the database is frozen for a minute, no cached page fails behind HAProxy and nginx", async () => {
  const database = await startCutProxy(Number(new URL(postgres.url).port));
  const DATABASE_URL = postgres.url.replace(new URL(postgres.url).host, database.host);
  const start = () => startServer({ DATABASE_URL }, folder);
  const servers: RunningServer[] = await Promise.all([start(), start(), start()]);
  onTestFinished(database.stop);
  const proxies = await startProxies(servers);
  const readAll = (name: string) => Promise.all(servers.map((server) => readMetric(server, name)));
  for (const { url } of servers) for (const path of CACHED_PATHS) await (await fetch(url + path)).text();

  const statuses: Record<string, number> = {};
  let isOver = false;
  const visit = async ({ send }: RunningProxy, path: string) => {
    const { status } = await send(path);
    const expected = path === "/nowhere" ? 404 : 200;
    const key = status === expected ? "as expected" : `${path}: ${status}`;
    statuses[key] = (statuses[key] ?? 0) + 1;
  };
  const visitors = proxies.flatMap((proxy) =>
    CACHED_PATHS.map(async (path) => {
      while (!isOver) {
        await visit(proxy, path);
        await setTimeout(50);
      }
    }),
  );
  database.cut();
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  const hanging: Promise<unknown>[] = [];
  for (let elapsedMs = 0; elapsedMs < FROZEN_MS; elapsedMs += 1000) {
    for (let visits = 0; visits < PRIVATE_VISITS; visits += 1)
      for (const { send } of proxies) hanging.push(send("/users", { signal: abort.signal }).catch(() => {}));
    await setTimeout(1000);
  }
  expect(await readAll("services_ready")).toEqual([0, 0, 0]);
  expect(await readAll("app_ready")).toEqual([1, 1, 1]);
  database.restore();
  await expect.poll(() => readAll("services_ready")).toEqual([1, 1, 1]);
  isOver = true;
  await Promise.all(visitors);
  abort.abort();
  await Promise.all(hanging);
  console.log(statuses);
  expect(Object.keys(statuses)).toEqual(["as expected"]);
  expect(statuses["as expected"]).toBeGreaterThan(500);
  await Promise.all(servers.map(({ stop }) => stop()));
});
