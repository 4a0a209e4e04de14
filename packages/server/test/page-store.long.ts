// The store of cached pages that processes share, in a real Redis (docs/caching.md).
import { setTimeout } from "node:timers/promises";
import { createRedisCache } from "react-router-express-server/redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningRedis, startRedis } from "./support/redis.ts";

const LIFETIME = { fresh: 60, staleWhileRevalidate: 0, staleIfError: 0 };
const PARSED = { cacheControl: "s-maxage=60", lifetime: LIFETIME, groups: [], contentHash: "hash" };
const PAGE = { status: 200, contentType: "text/html", headers: { "x-a": "a" }, ...PARSED };
const OPTIONS = { tags: ["all", "path /a", "group news"], age: 0, fresh: 60_000, kept: 120_000 };
const RACES = 300;

let redis: RunningRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis?.kill());

const toPage = (text: string) => ({ ...PAGE, bodies: { identity: Buffer.from(text), br: Buffer.from(`br ${text}`) } });
const textOf = (found: { page?: { bodies: { identity: Buffer } } | undefined }) =>
  found.page?.bodies.identity.toString();
const message = (invalidation: object) =>
  JSON.stringify({ from: "a", groups: [], paths: [], prefixes: [], ...invalidation });

/** Two processes of a site. */
async function connect(prefix: string) {
  const start = async () => {
    const { publish, store = expect.unreachable() } = createRedisCache({ url: redis.url, prefix });
    await store.connect();
    return { publish, lookUp: (key: string, version?: string) => store.lookUp(key, { version, wantsTurn: true }) };
  };
  const [one, other] = [await start(), await start()];
  return { one, other };
}

test("another process gets the page with its codings and headers, and nothing more if it has it already", async () => {
  const { one, other } = await connect("shared");
  const { turn } = await one.lookUp("/a");
  expect(await other.lookUp("/a")).toMatchObject({ version: undefined, page: undefined, turn: undefined });
  const stored = await turn?.store(toPage("first"), OPTIONS);
  const found = await other.lookUp("/a");
  expect(found).toMatchObject({ ...(stored as object), isFresh: true, turn: undefined, page: toPage("first") });
  expect(await other.lookUp("/a", found.version)).toMatchObject({ version: found.version, page: undefined });
});

test.each([
  ["head", "{"],
  ["bodies", "short"],
])("a page is not sent if its %s in Redis can't be read", async (field, value) => {
  const { one, other } = await connect(`broken ${field}`);
  await (await one.lookUp("/a")).turn?.store(toPage("first"), OPTIONS);
  await redis.send("HSET", `{broken ${field}} page /a`, field, value);
  await expect(other.lookUp("/a")).rejects.toThrow();
});

test.each([
  ["its group", { groups: ["news"] }, true],
  ["its path", { paths: ["/a"] }, true],
  ["a prefix", { prefixes: ["/"] }, true],
  ["everything", { everything: true }, true],
  ["another group and path", { groups: ["sports"], paths: ["/b"] }, false],
])("an invalidation of %s", async (label, invalidation, isRemoved) => {
  const { one, other } = await connect(`invalidated ${label}`);
  await (await one.lookUp("/a")).turn?.store(toPage("first"), OPTIONS);
  await other.publish(message(invalidation));
  expect(textOf(await one.lookUp("/a"))).toBe(isRemoved ? undefined : "first");
});

test.each([
  ["first", false],
  ["next", true],
])("the %s page that an invalidation has overtaken while it was rendered is refused", async (label, hasEarlier) => {
  const { one, other } = await connect(`overtaken ${label}`);
  if (hasEarlier) {
    await (await one.lookUp("/a")).turn?.store(toPage("earlier"), OPTIONS);
    await one.publish(message({ paths: ["/a"] }));
  }
  const { turn } = await one.lookUp("/a");
  await other.publish(message({ groups: ["news"] }));
  // A page of the same group, which makes the group's tag again.
  await (await other.lookUp("/b")).turn?.store(toPage("b"), { ...OPTIONS, tags: ["all", "path /b", "group news"] });
  expect(await turn?.store(toPage("old"), OPTIONS)).toBe("invalidated");
  expect((await other.lookUp("/a")).page).toBe(undefined);
  expect(await turn?.store(toPage("new"), OPTIONS)).toEqual({ version: expect.any(String) });
  expect(textOf(await other.lookUp("/a"))).toBe("new");
});

test("whatever the order of edits and renders, no process finds a page from before an edit", async () => {
  const { one, other } = await connect("races");
  let edits = 0;
  let stored = 0;
  const outdated: string[] = [];
  const edit = async () => {
    while (edits < RACES) {
      edits += 1;
      const edited = edits;
      await other.publish(message({ groups: ["news"] }));
      const { turn, page } = await other.lookUp("/a");
      turn?.end();
      const text = textOf({ page });
      if (text !== undefined && Number(text) < edited) outdated.push(`${text} after edit ${edited}`);
    }
  };
  const render = async () => {
    while (edits < RACES) {
      const { turn } = await one.lookUp("/a");
      const text = String(edits);
      await setTimeout(Math.random() * 4);
      if (turn && typeof (await turn.store(toPage(text), OPTIONS)) === "object") stored += 1;
      turn?.end();
    }
  };
  await Promise.all([edit(), render(), render()]);
  expect(outdated).toEqual([]);
  expect(stored).toBeGreaterThan(0);
});

test("one process at a time may render a page, and another once the first has hung or ended", async () => {
  const { one, other } = await connect("turns");
  const { turn } = await one.lookUp("/a");
  await setTimeout(5000); // Longer than a turn that isn't extended.
  expect((await other.lookUp("/a")).turn).toBe(undefined);
  turn?.end();
  await expect.poll(async () => (await other.lookUp("/a")).turn).toBeDefined();
  expect(await turn?.store(toPage("late"), OPTIONS)).toBe("lost");
  // As if its process had been killed.
  await redis.send("PEXPIRE", "{turns} turn /a", "1");
  await expect.poll(async () => (await one.lookUp("/a")).turn).toBeDefined();
});

test("if Redis evicts what it knows of an invalidation, the pages count as invalidated", async () => {
  const { one } = await connect("evicted");
  for (const tag of ["all", "path /a", "group news"]) {
    const { turn } = await one.lookUp("/a");
    await turn?.store(toPage("first"), OPTIONS);
    expect(textOf(await one.lookUp("/a"))).toBe("first");
    expect(await redis.send("DEL", `{evicted} tag ${tag}`)).toBe(1);
    const { page, turn: next } = await one.lookUp("/a");
    expect(page).toBe(undefined);
    next?.end();
  }
});

test("a page that isn't fresh any more is found, and may be rendered again", async () => {
  const { one, other } = await connect("stale");
  await (await one.lookUp("/a")).turn?.store(toPage("first"), { ...OPTIONS, age: 61_000 });
  const { page, age, isFresh, turn } = await other.lookUp("/a");
  expect([textOf({ page }), isFresh, turn !== undefined]).toEqual(["first", false, true]);
  expect(age).toBeGreaterThanOrEqual(61_000);
  turn?.end({ isRemoved: true });
  await expect.poll(async () => (await one.lookUp("/a")).version).toBe(undefined);
});
