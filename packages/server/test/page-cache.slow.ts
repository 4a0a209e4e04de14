// Cached pages: for how long, for whom, and how they are invalidated.
import { setTimeout } from "node:timers/promises";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { name } from "./site/package.json";
import { recordMetric } from "./support/record-metric.ts";
import { SITE } from "./support/site.ts";

const FOLDER = SITE;
const POSTS = "/example-pages/posts";
const POST = `${POSTS}/1`;

/** Loads the application, and collects the results of its renders from then on. */
async function load(env = {}) {
  const loaded = await loadApp({ folder: FOLDER, env });
  return { ...loaded, renders: recordMetric(loaded.registry, "page_cache_renders_total", ({ result }) => result) };
}

let loaded: Awaited<ReturnType<typeof load>>;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  loaded = await load();
});

afterEach(() => {
  vi.useRealTimers();
  delete process.env.POSTS;
  delete process.env.GUEST_BOOK;
  delete process.env.EVENT_DELAY_MS;
});

const get = (path: string, headers = {}) =>
  request(loaded.app).get(path).set("Accept-Encoding", "identity").set(headers);
const wait = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);
const statusOf = ({ headers }: request.Response) => headers["cache-status"];

/** Resolves once so many renders have ended. */
const rendered = (count: number) => expect.poll(() => loaded.renders).toHaveLength(count);

test("a page is rendered once, and then sent from memory until it is stale", async () => {
  const first = await get(POST);
  expect([first.status, statusOf(first), first.headers.age]).toEqual([200, `${name}; fwd=uri-miss; stored`, "0"]);
  wait(42);
  const second = await get(POST);
  expect([second.status, statusOf(second), second.headers.age]).toEqual([200, `${name}; hit; ttl=18`, "42"]);
  expect(second.text).toBe(first.text);
  expect(second.headers.etag).toBe(first.headers.etag);
  expect(second.headers["content-security-policy"]).not.toContain("nonce");
  expect((await get(POST, { "If-None-Match": first.headers.etag })).status).toBe(304);
  expect((await request(loaded.app).head(POST)).headers.age).toBe("42");
  expect(loaded.renders).toEqual(["stored"]);
});

test("a thousand first visits cause one render", async () => {
  const responses = await Promise.all(Array.from({ length: 1000 }, () => get(POST)));
  expect(new Set(responses.map(({ status, text }) => status + text)).size).toBe(1);
  expect(loaded.renders).toEqual(["stored"]);
});

test("a stale page is sent at once, and revalidated in the background", async () => {
  const first = await get(POST);
  process.env.POSTS = "Buy oat milk";
  wait(61);
  const stale = await get(POST);
  expect([statusOf(stale), stale.text]).toEqual([`${name}; hit; ttl=-1`, first.text]);
  // A cache in front stores it for a second.
  expect(stale.headers["cache-control"]).toBe(
    "public, max-age=0, s-maxage=1, stale-while-revalidate=3600, stale-if-error=86400",
  );
  expect(stale.headers.age).toBeUndefined();
  await rendered(2);
  const next = await get(POST);
  expect([statusOf(next), next.headers.age]).toEqual([`${name}; hit; ttl=60`, "0"]);
  expect(next.text).toContain("Buy oat milk");
  expect(next.headers.etag).not.toBe(first.headers.etag);
});

test("a page that is too stale is rendered before it is sent", async () => {
  await get(POST);
  process.env.POSTS = "Buy oat milk";
  wait(60 + 3600);
  const response = await get(POST);
  expect(statusOf(response)).toBe(`${name}; fwd=stale; stored`);
  expect(response.text).toContain("Buy oat milk");
});

test("compressed forms are reused while the page's content is the same", async () => {
  const getCompressed = () => request(loaded.app).get(POST).set("Accept-Encoding", "br");
  await get(POST);
  await expect.poll(async () => (await getCompressed()).headers["content-encoding"]).toBe("br");
  const { etag } = (await getCompressed()).headers;
  wait(61);
  await get(POST);
  await rendered(2);
  const again = await getCompressed();
  expect(again.headers).toMatchObject({ "content-encoding": "br", etag, age: "0" });
});

test("a cached page whose loader fails is sent stale, logged once, and revalidated later", async () => {
  const first = await get(POST);
  process.env.POSTS = "down";
  for (let minute = 1; minute <= 70; minute++) {
    wait(60);
    const response = await get(POST);
    expect([minute, response.status, response.text]).toEqual([minute, 200, first.text]);
    await rendered(1 + minute);
    expect((await get(POST)).text).toBe(first.text);
  }
  expect(loaded.renders.slice(1)).toEqual(Array(70).fill("failed"));
  const errors = loaded.lines.filter(({ level }) => level >= 50);
  const cause = { err: { message: "no database" }, file: "app/example-pages/post.tsx", "url.path": POST };
  expect(errors).toMatchObject([{ msg: "page not rendered", ...cause }]);
  process.env.POSTS = "Buy oat milk";
  wait(60);
  expect((await get(POST)).text).toContain("Buy oat milk");
});

test("a render that hangs times out, and the page is rendered again later", async () => {
  await get(POST);
  process.env.POSTS = "hanging";
  wait(60);
  expect((await get(POST)).status).toBe(200);
  await expect.poll(() => loaded.renders, { timeout: 20_000 }).toEqual(["stored", "failed"]);
  delete process.env.POSTS;
  wait(60);
  expect((await get(POST)).status).toBe(200);
  await rendered(3);
  expect(loaded.renders).toEqual(["stored", "failed", "stored"]);
});

test("while a page's renders fail or hang, the stale page is sent at once, and counted as stale", async () => {
  const first = await get(POST);
  process.env.POSTS = "down";
  wait(60 + 3600);
  expect((await get(POST)).text).toBe(first.text);
  process.env.POSTS = "hanging";
  wait(5);
  expect(statusOf(await get(POST))).toBe(`${name}; hit; ttl=-3605`);
  expect(loaded.renders).toEqual(["stored", "failed"]);
  await rendered(3);
  process.env.POSTS = "Buy oat milk";
  wait(5);
  expect((await get(POST)).text).toBe(first.text);
  await rendered(4);
  expect(loaded.renders).toEqual(["stored", "failed", "failed", "stored"]);
  expect((await get(POST)).text).toContain("Buy oat milk");
  const counts = { route: `${POSTS}/:id`, hit: 1, stale: 3, miss: 1 };
  expect(loaded.cache.entries.describe()).toContainEqual(expect.objectContaining(counts));
});

test("while hanging renders have all slots, the stale page is sent at once after the first wait for one", async () => {
  loaded = await load({ MAX_CONCURRENT_REQUESTS: "1" });
  await get(POST);
  process.env.POSTS = "hanging";
  const hanging = get(`${POSTS}/2`).then();
  const metrics = () => loaded.registry.metrics();
  await expect.poll(metrics).toContain('server_limit_usage{setting="MAX_CONCURRENT_REQUESTS"} 1\n');
  wait(60 + 3600);
  expect(statusOf(await get(POST))).toBe(`${name}; hit; ttl=-3600`);
  wait(5);
  expect(statusOf(await get(POST))).toBe(`${name}; hit; ttl=-3605`);
  // The slot wasn't free in between.
  expect(loaded.renders).toEqual(["stored"]);
  await hanging;
});

test("a page that fails and isn't cached gets the error page, then 503, and is rendered again after 5 s", async () => {
  process.env.POSTS = "down";
  const responses = [await get(POST), await get(POST), await get(POST)];
  expect(responses.map(({ status, headers }) => [status, headers["cache-control"], headers["retry-after"]])).toEqual([
    [500, "private, no-cache", undefined],
    [503, "no-store", "5"],
    [503, "no-store", "5"],
  ]);
  expect(loaded.renders).toEqual(["failed"]);
  delete process.env.POSTS;
  wait(5);
  expect((await get(POST)).status).toBe(200);
});

test("a page that failed while it was cached is rendered at once when an edit has removed it", async () => {
  const first = await get(POST);
  process.env.POSTS = "down";
  wait(60 + 3600);
  expect((await get(POST)).text).toBe(first.text);
  process.env.POSTS = "Buy oat milk";
  await loaded.cache.invalidate([], [POST]);
  expect((await get(POST)).text).toContain("Buy oat milk");
});

test("if the render for a hundred first visits fails, one gets the error page, and the others get 503", async () => {
  process.env.POSTS = "down";
  const responses = await Promise.all(Array.from({ length: 100 }, () => get(POST)));
  expect(responses.map(({ status }) => status).sort()).toEqual([500, ...Array(99).fill(503)]);
  expect(loaded.renders).toEqual(["failed"]);
});

test("a page that isn't cacheable at first is logged when it fails later", async () => {
  process.env.POSTS = "members"; // A temporary redirect.
  await get(POST);
  process.env.POSTS = "down";
  wait(5);
  await get(POST);
  expect(loaded.renders).toEqual(["not_cacheable", "failed"]);
  expect(loaded.lines).toContainEqual(expect.objectContaining({ msg: "page not rendered" }));
});

test("a page that has become private isn't sent from the cache", async () => {
  await get(POST);
  process.env.POSTS = "members";
  wait(60);
  expect((await get(POST)).status).toBe(200); // No render has failed yet.
  await rendered(2);
  for (let visit = 0; visit < 2; visit++) {
    const { status, headers } = await get(POST);
    expect([status, headers.location, headers["cache-control"]]).toEqual([
      302,
      "/example-pages/sign-up",
      "private, no-cache",
    ]);
  }
});

test("a cached page has nothing of the client that caused its render", async () => {
  const secrets = { Cookie: "session=secret", Authorization: "Bearer secret", "X-Forwarded-For": "203.0.113.9" };
  const response = await get("/example-pages/posts/2", { ...secrets, Host: "secret.example" });
  expect(response.text).toContain("Sow tomatoes");
  expect(JSON.stringify([response.text, response.headers])).not.toMatch(/secret|203\.0\.113\.9/);
  const warnings = loaded.lines.filter(({ level }) => level === 40);
  expect(warnings).toMatchObject([{ file: "app/example-pages/post.tsx" }]);
});

test.each([
  ["a page that is not found", "/example-pages/posts/nowhere", 404, "stored"],
  ["a page that has moved for good", "/example-pages/posts/old", 301, "stored"],
  ["a page's data", "/example-pages/posts/1.data", 200, "stored"],
  ["a page that has moved for now", "/example-pages/posts/members", 302, "not_cacheable"],
  ["a page that sets a cookie", "/example-pages/posts/counted?page=1", 200, "not_cacheable"],
])("%s (%s) has status %i, and its render is counted as %s", async (_label, path, status, result) => {
  if (path.includes("counted")) process.env.POSTS = "Counted";
  for (let visit = 0; visit < 2; visit++) {
    const response = await get(path);
    expect(response.status).toBe(status);
    expect(statusOf(response) !== undefined).toBe(result === "stored");
    expect(/private/.test(response.headers["cache-control"] ?? "")).toBe(result !== "stored");
  }
  expect(loaded.renders).toEqual([result]);
  const warnings = loaded.lines.filter(({ level }) => level === 40);
  expect(warnings.map(({ file }) => file)).toEqual(result === "stored" ? [] : ["app/example-pages/post.tsx"]);
});

test.each([
  ["?utm_source=a", "?utm_source=b", 1],
  ["?page=1", "?page=2", 2],
  ["?page=1&utm_source=a", "?utm_source=b&page=1", 1],
])("with No-Vary-Search, %s and %s make %i cache entries", async (first, second, count) => {
  const [one, other] = [await get(POST + first), await get(POST + second)];
  expect(loaded.renders).toHaveLength(count);
  expect(one.text === other.text).toBe(count === 1);
  expect(one.text).not.toContain("utm");
});

test.each(["/example-pages/posts/1/", "/Example-Pages/POSTS/1", "/example-pages/posts/1//"])(
  "%s has the same cache entry as the page itself",
  async (path) => {
    const [page, equal] = [await get(POST), await get(path)];
    expect([equal.text, equal.headers["cache-status"]]).toEqual([page.text, `${name}; hit; ttl=60`]);
    expect((await get(`${path.replace(/\/+$/, "")}.data`)).status).toBe(200);
    expect((await get(`${POST}.data`)).headers["cache-status"]).toBe(`${name}; hit; ttl=60`);
    expect(loaded.renders).toHaveLength(2);
  },
);

test("a thousand paths of slashes are one cache entry", async () => {
  const before = loaded.cache.entries.getSize().entries;
  for (let count = 1; count <= 1000; count++) expect((await get("/".repeat(count))).status).toBe(200);
  expect([loaded.cache.entries.getSize().entries, loaded.renders]).toEqual([before, []]);
});

test("data requests with different _routes have separate cache entries", async () => {
  await get(`${POST}.data`);
  await get(`${POST}.data?_routes=root`);
  expect(loaded.renders).toHaveLength(2);
});

test("routes that a page doesn't have, their order and their spelling in _routes make no cache entry", async () => {
  for (const query of [
    "_routes=root",
    "_routes=root,nowhere",
    "_routes=x,root,root",
    "%5Froutes=root",
    "_routes=root&_routes=x",
  ])
    await get(`${POST}.data?${query}`);
  expect(loaded.renders).toHaveLength(1);
});

test("the cache is bounded, and cached 404s evict no other entry", async () => {
  loaded = await load({ PAGE_CACHE_MAX_BYTES: "400000" });
  await get(POST);
  loaded.renders.length = 0;
  for (let id = 0; id < 120; id++) await get(`/example-pages/posts/${1000 + id}`);
  expect(loaded.renders).toHaveLength(120);
  expect(loaded.cache.entries.getSize().entries).toBeLessThan(100);
  expect(loaded.cache.entries.getSize().bytes).toBeLessThanOrEqual(400_000);
  expect(statusOf(await get(POST))).toBe(`${name}; hit; ttl=60`);
});

test('a page that is larger than the cache is sent, without "stored" in Cache-Status, and logged', async () => {
  loaded = await load({ PAGE_CACHE_MAX_BYTES: "1000" });
  const response = await get(POST);
  expect([response.status, statusOf(response)]).toEqual([200, `${name}; fwd=uri-miss`]);
  expect(loaded.cache.entries.getSize()).toEqual({ entries: 0, bytes: 0 });
  expect(loaded.renders).toContain("too_large");
  expect(loaded.lines).toContainEqual(
    expect.objectContaining({ msg: "cache warning", reason: "larger than its part of PAGE_CACHE_MAX_BYTES" }),
  );
});

const BOOK = "/example-pages/guest-book";
const sign = (path: string, name: string) => request(loaded.app).post(path).type("form").send({ name });

test.each(["", ".data"])("a POST to guest-book%s shows on the cached page at once", async (suffix) => {
  const paths = [BOOK, `${BOOK}?page=2`, `${BOOK}.data`];
  for (const path of paths) await get(path);
  expect((await sign(BOOK + suffix, "")).status).toBe(400);
  expect(statusOf(await get(BOOK))).toContain("; hit");
  expect((await sign(BOOK + suffix, `Ada${suffix}`)).status).toBeLessThan(400);
  for (const path of paths) {
    const response = await get(path);
    expect(statusOf(response)).toContain("; stored");
    expect(response.text).toContain(`Ada${suffix}`);
  }
});

test("a render from before an action isn't cached after it", async () => {
  process.env.GUEST_BOOK = "slow";
  const rendering = get(`${BOOK}?page=3`).then(({ text }) => text);
  await setTimeout(100);
  await sign(BOOK, "Grace");
  await rendering;
  expect((await get(`${BOOK}?page=3`)).text).toContain("Grace");
});

const EVENTS = "/example-pages/events";
const LIST = [EVENTS, `${EVENTS}.data`, `${EVENTS}/`, "/Example-Pages/%45vents.data", "/example-pages/feed.md"];
const edit = (id: number, title: string, suffix = "") =>
  request(loaded.app).post(`${EVENTS}/${id}/edit${suffix}`).type("form").send({ title });
const remove = (id: number, suffix = "") => request(loaded.app).post(`${EVENTS}/${id}/delete${suffix}`);

test("a resource route is cached and compressed like a page, and has the same security headers", async () => {
  const feed = await get("/example-pages/feed.md", { "Accept-Encoding": "br" });
  const { "content-type": type, "cache-control": cacheControl, "content-security-policy": policy, vary } = feed.headers;
  expect([type, cacheControl, vary, statusOf(feed)]).toEqual([
    "text/markdown; charset=utf-8",
    "public, max-age=0, s-maxage=3600, stale-while-revalidate=3600, stale-if-error=86400",
    "Accept-Encoding",
    `${name}; hit; ttl=3600`,
  ]);
  expect(policy).toContain("default-src 'none'");
  expect((await get("/example-pages/feed.md", { "If-None-Match": '"x", W/"y"' })).status).toBe(200);
  const again = { "Accept-Encoding": "br", "If-None-Match": feed.headers.etag };
  expect((await get("/example-pages/feed.md", again)).status).toBe(304);
  expect(loaded.renders).toEqual([]);
});

test.each(["", ".data"])(
  "a POST to edit%s shows at once on every page that it changes, in every spelling of the path",
  async (suffix) => {
    const paths = [...LIST, `${EVENTS}/1`, `${EVENTS}/1.data`];
    for (const path of [...paths, `${EVENTS}/2`]) await get(path);
    expect((await edit(1, `Opera${suffix}`, suffix)).status).toBeLessThan(400);
    for (const path of paths) expect((await get(path)).text).toContain(`Opera${suffix}`);
    expect(statusOf(await get(`${EVENTS}/2`))).toContain("; hit");
  },
);

test.each(["", ".data"])("Cache-Group-Invalidation of delete%s invalidates groups", async (suffix) => {
  await edit(7, "Ballet");
  for (const path of [...LIST, `${EVENTS}/7`]) expect((await get(path)).text).toContain("Ballet");
  await remove(7, suffix);
  for (const path of LIST) expect((await get(path)).text).not.toContain("Ballet");
  expect((await get(`${EVENTS}/7`)).status).toBe(404);
});

test("a cached 404 is in its route's groups, and the page shows once it is created", async () => {
  expect((await get(`${EVENTS}/8`)).status).toBe(404);
  expect(statusOf(await get(`${EVENTS}/8`))).toContain("; hit");
  await edit(8, "Circus");
  expect((await get(`${EVENTS}/8`)).text).toContain("Circus");
  await remove(8);
});

test("a render during an edit is repeated for all requests that wait for it", async () => {
  process.env.EVENT_DELAY_MS = "300";
  const before = get(`${EVENTS}/1`).then(({ text }) => text);
  await setTimeout(100);
  await edit(1, "Festival");
  const after = get(`${EVENTS}/1`).then(({ text }) => text);
  expect(await before).toContain("Festival");
  expect(await after).toContain("Festival");
  expect(loaded.renders.filter((result) => result !== "failed")).toEqual(["invalidated", "stored"]);
});

test("a page that a job invalidates is rendered again", async () => {
  await get(POST);
  expect(await loaded.cache.invalidate([], ["/Example-Pages/posts/1/"])).toBe(1);
  expect(await loaded.cache.invalidate(["no-such-group"])).toBe(0);
  expect(await loaded.cache.invalidate([], ["posts/1", "", "/a#b"])).toBe(0);
  expect(await loaded.cache.invalidate([], ["/100%", "/unknown"])).toBe(1); // The page for unknown paths.
  expect(statusOf(await get(POST))).toContain("; stored");
});

test("ten thousand entries of a group are invalidated at once, and others stay", async () => {
  loaded = await load({ PAGE_CACHE_MAX_BYTES: String(2 ** 30) });
  await get(`${EVENTS}/1`);
  const entry = loaded.cache.entries.find(`${EVENTS}/1`);
  if (!entry) throw new Error("not cached");
  for (let id = 0; id < 10_000; id++) loaded.cache.entries.store(`/many/${id}`, { ...entry, groups: ["many"] }, []);
  vi.useRealTimers();
  const startedAt = performance.now();
  expect(await loaded.cache.invalidate(["many"])).toBe(10_000);
  console.log(`${(performance.now() - startedAt).toFixed(1)} ms`);
  expect(loaded.cache.entries.find(`${EVENTS}/1`)).toBe(entry);
});
