import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import type { RouteEntry } from "../../locals.ts";
import { createEntry, parsePage } from "./create-entry.ts";
import { createEntries } from "./memory.ts";
import type { LookUp, PageStore } from "./page-store.ts";
import { createSharedPages } from "./shared-pages.ts";

const ROUTE = { pattern: "/", cacheRule: {} } as RouteEntry;
const HEADERS = { "cache-control": "s-maxage=60, stale-while-revalidate=60", "cache-groups": '"a"' };
const BODIES = { identity: Buffer.from("page") };
const PAGE = parsePage({ status: 200, contentType: "text/plain", headers: HEADERS, bodies: BODIES });
const FOUND: LookUp = { version: "1", page: PAGE, age: 2000, isFresh: true };

function connect(answer: () => Promise<LookUp>, isPublished = () => true) {
  const entries = createEntries(1e6, { recordLookup() {}, recordEviction() {} });
  const results: string[] = [];
  const questions: string[] = [];
  const lines: string[] = [];
  const shared = createSharedPages({
    entries,
    log: pino({ base: null }, { write: (line) => lines.push(JSON.parse(line).msg) }),
    metrics: { recordStore: (result) => results.push(result) },
    release: "release",
    isPublished,
  });
  const store: PageStore = {
    connect: async () => {},
    lookUp(key, { version, wantsTurn }) {
      questions.push([key, version, wantsTurn && "turn"].filter(Boolean).join(" "));
      return answer();
    },
  };
  shared.connect(store);
  return { shared, entries, results, questions, lines };
}

test("a page of the store gets into memory with its age, and is asked for by its version from then on", async () => {
  const { shared, entries, questions } = connect(async () => FOUND);
  await shared.lookUp("/", ROUTE);
  const entry = entries.find("/");
  expect(entry).toMatchObject({ groups: ["a"], cacheControl: HEADERS["cache-control"], version: "1" });
  expect(performance.now() - Number(entry?.renderedAt)).toBeGreaterThanOrEqual(2000);
  await shared.lookUp("/", ROUTE);
  expect(questions).toEqual(["release /", "release / 1"]);
});

test.each([
  ["never answers", () => new Promise<LookUp>(() => {})],
  ["fails", () => Promise.reject(new Error("full"))],
])("a store that %s is asked once, and then not for a while", async (_label, answer) => {
  const { shared, questions, results, lines } = connect(answer);
  expect(await shared.lookUp("/", ROUTE)).toBe(undefined);
  expect(await shared.lookUp("/", ROUTE)).toBe(undefined);
  expect(await shared.takeTurn("/", ROUTE)).toEqual({ turn: undefined });
  expect({ questions, results, lines }).toEqual({ questions: ["release /"], results: ["error"], lines: [] });
  await expect.poll(() => shared.lookUp("/", ROUTE).then(() => questions.length)).toBe(2);
  expect(lines).toEqual(["page store not available: each process renders its own pages"]);
});

test("a store that is read, but gives no turn, is logged", async () => {
  const { shared, questions, lines } = connect(async () => {
    if (questions.at(-1)?.endsWith("turn")) throw new Error("full");
    return { age: 0, isFresh: false };
  });
  const miss = async () => {
    await shared.lookUp("/", ROUTE);
    await shared.takeTurn("/", ROUTE);
    return lines;
  };
  await expect.poll(miss).toEqual(["page store not available: each process renders its own pages"]);
});

test("the pauses of a store that fails get longer, up to 5 s, and start anew once it answers", async () => {
  let isUp = false;
  const { shared, questions, lines } = connect(async () => (isUp ? FOUND : Promise.reject(new Error("full"))));
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  /** Returns the milliseconds until the store is asked again. */
  const findPause = async () => {
    const [count, startedAt] = [questions.length, performance.now()];
    for (; questions.length === count; vi.advanceTimersByTime(100)) await shared.lookUp("/", ROUTE);
    return performance.now() - startedAt;
  };
  await findPause();
  const pauses = [await findPause(), await findPause(), await findPause(), await findPause(), await findPause()];
  expect(pauses).toEqual([500, 1000, 2000, 4000, 5000]);
  isUp = true;
  await findPause();
  isUp = false;
  await findPause();
  expect(lines).toEqual([expect.stringContaining("page store not available"), "page store available"]);
  expect(await findPause()).toBe(500);
});

test("a store that answers, but is full, is logged once", async () => {
  const turn = { store: () => Promise.reject(new Error("full")), end() {} };
  const { shared, lines } = connect(async () => ({ age: 0, isFresh: false, turn }));
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  for (let count = 0; count < 4; count += 1, vi.advanceTimersByTime(5000)) {
    await shared.lookUp("/", ROUTE);
    expect(await shared.store(turn, "/", PAGE, createEntry(PAGE, ROUTE, 0))).toBe("failed");
  }
  expect(lines).toEqual(["page store not available: each process renders its own pages"]);
});

test("a turn that comes after the deadline ends, so that another process gets it", async () => {
  let hasEnded = false;
  const turn = { store: () => Promise.reject(new Error("late")), end: () => (hasEnded = true) };
  const late = new Promise<LookUp>((resolve) => setTimeout(resolve, 2000, { age: 0, isFresh: false, turn }));
  const { shared } = connect(() => late);
  expect(await shared.takeTurn("/", ROUTE)).toEqual({ turn: undefined });
  await expect.poll(() => hasEnded).toBe(true);
});

test.each([
  ["that has come while the process was busy", 0],
  ["to a question that was only sent then", 20],
])("an answer %s counts", async (_label, tookMs) => {
  const { shared, results } = connect(
    () =>
      new Promise((resolve) => {
        setTimeout(() => {
          const end = performance.now() + 200;
          while (performance.now() < end);
          if (tookMs) setTimeout(resolve, tookMs, FOUND);
          else setImmediate(resolve, FOUND);
        }, 1);
      }),
  );
  await shared.lookUp("/", ROUTE);
  expect(results).toEqual(["hit"]);
});

test("an answer that others delay counts, so that after a restart every page can come from the store", async () => {
  let count = 0;
  const { shared, results } = connect(() => new Promise((resolve) => setTimeout(resolve, 20 * ++count, FOUND)));
  await Promise.all(Array.from({ length: 8 }, (_, index) => shared.lookUp(`/${index}`, ROUTE)));
  expect(results).toEqual(Array(8).fill("hit"));
});

test("a process that stays busy doesn't wait for a store that answers nothing", async () => {
  const { shared, results } = connect(() => new Promise(() => {}));
  const busy = setInterval(() => {
    const end = performance.now() + 120;
    while (performance.now() < end);
  });
  expect(await shared.lookUp("/", ROUTE)).toBeUndefined();
  clearInterval(busy);
  expect(results).toEqual(["error"]);
});

test("a store that is too slow for all questions isn't waited for", async () => {
  let count = 0;
  const { shared, results } = connect(() => new Promise((resolve) => setTimeout(resolve, 20 * ++count, FOUND)));
  await Promise.all(Array.from({ length: 1000 }, (_, index) => shared.lookUp(`/${index}`, ROUTE)));
  expect(new Set(results)).toEqual(new Set(["hit", "error"]));
  expect(shared.isOpen()).toBe(false);
});

test("while invalidations of the process aren't published, the store isn't asked: it may have the old page", async () => {
  const { shared, questions } = connect(
    async () => FOUND,
    () => false,
  );
  expect(shared.isOpen()).toBe(false);
  await shared.lookUp("/", ROUTE);
  expect(questions).toEqual([]);
});

test("a page that is invalidated while the store answers doesn't get into memory", async () => {
  const { shared, entries } = connect(async () => {
    entries.invalidate({ groups: ["a"], paths: [], prefixes: [] });
    return FOUND;
  });
  expect(await shared.lookUp("/", ROUTE)).toEqual({ turn: undefined });
  expect(entries.find("/")).toBe(undefined);
});

test("a client waits for the process that renders the page, and gets that page", async () => {
  const answers: LookUp[] = [{ age: 0, isFresh: false }, { age: 0, isFresh: false }, FOUND];
  const { shared, questions } = connect(async () => answers.shift() as LookUp);
  expect(await shared.takeTurn("/", ROUTE)).toMatchObject({ isFresh: true, entry: { version: "1" } });
  expect(questions).toHaveLength(3);
});

test.each([
  ["fresh, is sent as the others send it", true, "1"],
  ["stale, doesn't replace the newer one", false, undefined],
])("a page of the store that is older than the memory's and %s", async (_label, isFresh, version) => {
  const { shared, entries, questions } = connect(async () => ({ ...FOUND, isFresh }));
  entries.store("/", createEntry(PAGE, ROUTE, performance.now()), []); // It was rendered while the store was down.
  entries.setConnected(true);
  if (isFresh) expect((await shared.takeTurn("/", ROUTE)).entry?.version).toBe("1");
  else await shared.lookUp("/", ROUTE);
  expect(questions).toHaveLength(1);
  expect(entries.find("/")?.version).toBe(version);
});

test("after the channel has connected, a page that the store still has is fresh", async () => {
  const { shared, entries } = connect(async () => FOUND);
  await shared.lookUp("/", ROUTE);
  entries.setConnected(true);
  const readFresh = () => {
    const entry = entries.find("/");
    return entry && entries.lifetimeOf(entry).fresh;
  };
  expect(readFresh()).toBe(0);
  await shared.lookUp("/", ROUTE);
  expect(readFresh()).toBe(60);
});
