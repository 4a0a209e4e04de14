// The cache channel of docs/caching.md, with a real PostgreSQL.
import { createPostgresChannel } from "react-router-express-server/postgres";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startCutProxy } from "./support/cut-proxy.ts";
import { createPostgres, type Postgres } from "./support/postgres.ts";

let postgres: Postgres;

beforeAll(async () => {
  postgres = await createPostgres();
});

beforeEach(() => postgres.start());

afterAll(() => postgres?.remove());

/** A channel that records what its process gets. */
function connect(options: { url?: string; channel?: string } = {}) {
  const channel = createPostgresChannel({ url: postgres.url, ...options });
  const messages: string[] = [];
  const connections: boolean[] = [];
  channel.subscribe(
    (message) => messages.push(message),
    (isConnected) => isConnected !== connections.at(-1) && connections.push(isConnected),
  );
  onTestFinished(async () => void (await channel.close?.().catch(() => {}))); // A test may have closed it.
  return { ...channel, messages, connections };
}

test("messages reach every process, also after a restart of PostgreSQL", async () => {
  const [one, other] = [connect(), connect()];
  await expect.poll(() => [...one.connections, ...other.connections]).toEqual([true, true]);
  await one.publish("first");
  await expect.poll(() => [one.messages, other.messages]).toEqual([["first"], ["first"]]);
  await postgres.stop();
  await expect.poll(() => other.connections).toEqual([true, false]);
  await expect(one.publish("lost")).rejects.toThrow();
  await postgres.start();
  await expect.poll(() => other.connections).toEqual([true, false, true]);
  await one.publish("second");
  await expect.poll(() => other.messages).toEqual(["first", "second"]);
});

test("a connection that is lost without a reset is detected and made again, and no edit waits for it for long", async () => {
  const proxy = await startCutProxy(Number(new URL(postgres.url).port));
  onTestFinished(proxy.stop);
  const url = postgres.url.replace(new URL(postgres.url).host, proxy.host);
  const cut = connect({ url });
  await expect.poll(() => cut.connections).toEqual([true]);
  await cut.publish("first");
  await expect.poll(() => cut.messages).toEqual(["first"]);
  proxy.cut();
  await expect(cut.publish("lost")).rejects.toThrow();
  await expect.poll(() => cut.connections).toEqual([true, false]);
  proxy.restore();
  await expect.poll(() => cut.connections).toEqual([true, false, true]);
  // As the server does, again and again until it succeeds.
  await expect.poll(() => cut.publish("second").then(Boolean, () => false)).toBe(true);
  await expect.poll(() => cut.messages).toContain("second");
});

test("sites with different channels share a database", async () => {
  const [shop, blog] = [connect(), connect({ channel: 'the "blog"' })];
  await expect.poll(() => [...shop.connections, ...blog.connections]).toEqual([true, true]);
  await blog.publish("post");
  await shop.publish("offer");
  await expect.poll(() => [shop.messages, blog.messages]).toEqual([["offer"], ["post"]]);
});

test("a channel that is closed leaves no connection", async () => {
  const { publish, close, connections } = connect();
  await expect.poll(() => connections).toEqual([true]);
  await publish("first");
  const count = "SELECT pid FROM pg_stat_activity WHERE client_port IS NOT NULL AND pid <> pg_backend_pid()";
  expect(await postgres.query(count)).toHaveLength(2);
  await close?.();
  await expect.poll(() => postgres.query(count)).toEqual([]);
  expect(connections).toEqual([true]);
});
