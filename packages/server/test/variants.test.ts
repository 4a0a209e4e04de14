// Cached pages that differ by language or cookie: example-pages/hello.tsx and fare.tsx.
import type { RequestListener } from "node:http";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { recordMetric } from "./support/record-metric.ts";
import { SITE } from "./support/site.ts";

const HELLO = "/example-pages/hello";
const FARE = "/example-pages/fares/rome";

vi.useFakeTimers({ toFake: ["performance"] }); // Cached pages stay fresh, on however slow a machine.

/** An application for tests that depend neither on its log nor on what else is in its cache. */
const shared = await loadApp({ folder: SITE });
afterAll(shared.close);

async function load(env = {}) {
  const loaded = await loadApp({ folder: SITE, env });
  onTestFinished(loaded.close);
  return loaded;
}

const get = (app: RequestListener, path: string, headers = {}) => request(app).get(path).set(headers);

/** The heading of a page, or the data of its loader. */
const readHello = ({ text }: { text: string }) => /Hello|Hallo|你好/.exec(text.replace(/.*<main/s, ""))?.[0];

/** The languages whose data is in the cache of the shared application. */
const renderedData = new Set<string>();

test.each([
  ["nothing", undefined, "Hello"],
  ["German", "de", "Hallo"],
  ["German of Austria first", "de-AT,de;q=0.9,en;q=0.8", "Hallo"],
  ["Chinese of Taiwan", "zh-TW", "你好"],
  ["more English than German", "de;q=0.5, en;q=0.9", "Hello"],
  ["a language that the page hasn't, then German", "fr, de;q=0.5", "Hallo"],
  ["a language that the page hasn't", "fr", "Hello"],
  ["anything but English", "en;q=0, *", "Hallo"],
  ["nothing at all", "", "Hello"],
  ["no language", ";;,=q", "Hello"],
])(
  "a visitor whose browser accepts %s (%s) gets %s from the cache, as a page and as data",
  async (_, accepted, hello) => {
    const { app, registry } = shared;
    const renders = recordMetric(registry, "page_cache_renders_total", ({ result }) => result);
    for (const path of [HELLO, `${HELLO}.data`]) {
      const headers = accepted === undefined ? {} : { "Accept-Language": accepted };
      const { status, headers: sent, ...response } = await get(app, path, headers);
      expect([status, readHello(response)]).toEqual([200, hello]);
      expect(sent.vary).toBe("Accept-Encoding, Accept-Language");
      expect(sent["cache-control"]).toMatch(/^public, max-age=0, s-maxage=60,/);
      const again = await get(app, path, { ...headers, "If-None-Match": String(sent.etag) });
      expect([again.status, again.headers.vary]).toEqual([304, "Accept-Encoding, Accept-Language"]);
      expect(again.headers["cache-status"]).toMatch(/; hit;/);
    }
    // Pages are rendered at startup, and data at its first request.
    expect(renders).toEqual(renderedData.has(hello) ? [] : ["stored"]);
    renderedData.add(hello);
  },
);

test("each variant of a page without parameters is rendered at startup", async () => {
  const { app } = shared;
  for (const language of ["en", "de", "zh"]) {
    const { headers, text } = await get(app, HELLO, { "Accept-Language": language, Cookie: "session=1" });
    expect(headers["cache-status"]).toMatch(/; hit;/);
    expect(text).toContain(`<main lang="${language}">`);
  }
});

test.each([
  ["no cookie", undefined, "EUR"],
  ["one of the values", "currency=USD", "USD"],
  ["one of the values among other cookies", "session=1; currency=USD; theme=dark", "USD"],
  ["another value", "currency=XXX", "EUR"],
  ["a value in another case", "currency=usd", "EUR"],
  ["the value of a cookie with a longer name", "xcurrency=USD; currency2=USD", "EUR"],
  ["no value", "currency", "EUR"],
])("a visitor with %s (%s) gets the page for %s, which no cache in front stores", async (_label, cookie, currency) => {
  const { app } = shared;
  const headers = { "Accept-Language": "de", ...(cookie && { Cookie: cookie }) };
  const first = await get(app, FARE, headers);
  expect(first.text).toContain(`<p>currency=${currency} de</p><p>accept-language,cookie</p>`);
  const second = await get(app, FARE, { ...headers, "If-None-Match": String(first.headers.etag) });
  expect([second.status, second.headers["cache-status"]]).toEqual([304, expect.stringContaining("hit")]);
  for (const { headers } of [first, second]) {
    expect(headers).toMatchObject({
      vary: "Accept-Encoding, Accept-Language, Cookie",
      "cache-control": "private, no-cache",
    });
  }
});

test("whatever clients send, a page has as many entries as variants, and an edit of its path removes them all", async () => {
  const { app, cache } = await load();
  const languages = ["en", "de", "de-AT", "fr", "*", "en;q=0.1, de", "x".repeat(5000), "#", "de&currency=USD"];
  const cookies = ["", "currency=USD", "currency=EUR", "currency=#", "a=1; currency=USD", `b=${"=;".repeat(2000)}`];
  for (const language of languages) {
    for (const cookie of cookies) {
      const { status } = await get(app, FARE, { "Accept-Language": language, Cookie: cookie });
      expect(status).toBe(200);
    }
  }
  const keys = ["EUR", "USD"].flatMap((currency) =>
    ["en", "de"].map((language) => `${FARE}#Accept-Language=${language}&currency=${currency}`),
  );
  const list = () => cache.describePage(`${FARE}/`).entries.map(({ key }) => key);
  expect(list().sort()).toEqual(keys.sort());
  expect(await cache.invalidate([], [FARE])).toBe(4);
  expect(list()).toEqual([]);
  await get(app, `${FARE}.data`, { Cookie: "currency=USD" });
  expect(list()).toEqual([`${FARE}.data#Accept-Language=en&currency=USD`]);
  const purged = await cache.purge({ groups: [], paths: [], prefixes: ["/example-pages/f%61res/ro"] });
  expect(purged.keys).toEqual([]); // A prefix is decoded.
  expect((await cache.purge({ groups: [], paths: [], prefixes: ["/example-pages/fares/ro"] })).keys).toHaveLength(1);
});

test("a query that makes no difference makes none with variants", async () => {
  const { app, cache } = await load();
  const { headers, text } = await get(app, `${HELLO}?utm_source=a`, { "Accept-Language": "de" });
  expect([headers["cache-status"], readHello({ text })]).toEqual([expect.stringMatching(/; hit;/), "Hallo"]);
  expect(headers["no-vary-search"]).toBe("params");
  const keys = cache.describePage(HELLO).entries.map(({ key }) => key);
  expect(keys.sort()).toEqual(["de", "en", "zh"].map((language) => `${HELLO}#Accept-Language=${language}`));
});

test("loaders with variants log no cache warning, also if a render fails and the page is rendered for one client", async () => {
  const { app, cache, lines } = await load();
  expect(lines).toEqual([]);
  const { status, headers } = await get(app, "/example-pages/fares/nowhere", { Cookie: "currency=USD" });
  expect([status, headers.vary]).toEqual([500, expect.stringContaining("Accept-Language, Cookie")]);
  const { failures } = cache.describePage("/example-pages/fares/nowhere");
  expect(failures).toMatchObject([{ key: "/example-pages/fares/nowhere#Accept-Language=en&currency=USD" }]);
  expect(lines.map((line) => line["url.path" as never])).toContain("/example-pages/fares/nowhere");
});

test("the log warns if a loader with variants reads another header", async () => {
  const { app, lines } = await load();
  expect((await get(app, "/example-pages/fares/members")).status).toBe(200);
  const warnings = lines.filter(({ msg }) => msg === "cache warning");
  expect(warnings).toMatchObject([
    { file: "app/example-pages/fare.tsx", reason: expect.stringMatching(/reads the req/) },
  ]);
});

test("a path that is too long for the cache is rendered with the same headers, for this client", async () => {
  const { app } = shared;
  const path = `/example-pages/fares/${"a".repeat(3000)}`;
  const response = await get(app, path, { "Accept-Language": "de-AT,en;q=0.5", Cookie: "a=1; currency=XXX" });
  expect(response.text).toContain("<p>currency=EUR; a=1; currency=XXX de</p>");
  expect(response.headers["cache-control"]).toMatch(/^private/);
});

test("if middleware in front sets the language, visitors get it, and no cache in front stores it", async () => {
  const { app } = await load({ FRONT: "changed-header" });
  const german = await get(app, `${HELLO}?lang=de`, { "Accept-Language": "en" });
  expect([readHello(german), german.headers["cache-control"]]).toEqual(["Hallo", "private, no-cache"]);
  const own = await get(app, `${HELLO}?lang=de`, { "Accept-Language": "de" });
  expect([readHello(own), own.headers["cache-control"]]).toEqual(["Hallo", expect.stringContaining("public")]);
});
