// The operators' page: what it shows, in both forms, and that a stranger's text stays text.
import { pino } from "pino";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import request from "supertest";
import { expect, test, vi } from "vitest";
import { createLastErrors } from "./last-errors.ts";
import { describePurge, type OpsCache } from "./ops-cache.ts";
import { renderText } from "./ops-page.ts";
import { createOpsServer } from "./ops-server.ts";
import { createStatus } from "./ops-status.ts";
import { createRouteUsage } from "./route-usage.ts";

// In a thread, it is the uptime of all tests.
vi.spyOn(process, "uptime").mockReturnValue(5);

const HTML = { Accept: "text/html,*/*;q=0.8" };
const ATTACK = `<script>alert(1)</script>"'&\u001b[31m\u202e`;

function createRegistry() {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ["http_route", "http_response_status_code", "error_type", "result", "setting", "reason"];
  const create = { help: "x", labelNames, registers };
  return {
    registry,
    duration: new Histogram({ ...create, name: "http_server_request_duration_seconds", buckets: [0.1, 0.2, 1] }),
    abandoned: new Counter({ ...create, name: "requests_abandoned_total" }),
    lookups: new Counter({ ...create, name: "page_cache_requests_total" }),
    shed: new Counter({ ...create, name: "requests_shed_total" }),
    evictions: new Counter({ ...create, name: "page_cache_evictions_total" }),
    limit: new Gauge({ ...create, name: "server_limit" }),
    usage: new Gauge({ ...create, name: "server_limit_usage" }),
  };
}

type Given = { isReady?: boolean; reason?: string; text?: string; host?: string };

function createServer({ isReady = true, reason, text = "none", host }: Given = {}) {
  const { registry, duration, lookups, shed, evictions, limit, usage } = createRegistry();
  shed.inc({ reason: "queue" }, 24);
  shed.inc({ reason: "timeout" }, 0);
  evictions.inc(7);
  for (const status of [200, 200, 200, 503]) {
    duration.observe({ http_route: `/${text}`, http_response_status_code: status, error_type: "" }, 0.15);
  }
  for (const result of ["hit", "hit", "hit", "miss"]) lookups.inc({ http_route: `/${text}`, result });
  for (const [setting, used] of Object.entries({ MAX_CONNECTIONS: 95, MAX_ENCODERS: 2, PAGE_CACHE_MAX_BYTES: 100 })) {
    limit.set({ setting }, 100);
    usage.set({ setting }, used);
  }
  const lastErrors = createLastErrors();
  lastErrors.record(
    JSON.stringify({
      time: "2030-01-02T03:04:05.678Z",
      msg: "render failed",
      "exception.type": "Error",
      "exception.message": `${text} postgres://user:secret@db/x?token=secret`,
      "http.request.id": "id-1",
    }),
  );
  const entry = { key: `/${text}`, status: 200, cacheControl: "", ageSeconds: 90, groups: [], bytes: 2048 };
  const cache = {
    describeChannel: () => "connected",
    describeEdge: () => "purged after each edit",
    findMistake: (path: string) => (path === "/known" ? undefined : `${path}: no cached page has this path`),
    purge: async () => ({ keys: [`/${text}`], others: "no channel" }),
    entries: {
      getSize: () => ({ entries: 1, bytes: 2048 }),
      listExtremes: () => ({ largest: [entry], oldest: [entry] }),
    },
  } as Partial<Record<keyof OpsCache, unknown>> as OpsCache;
  const readReadiness = () => ({ isReady, reason });
  const readStatus = createStatus({
    site: { name: "greeting", version: "1.2.3", revision: "abc" },
    registry,
    readReadiness,
    getLastFailure: () => ({ at: new Date("2030-01-02T03:04:05Z"), reason: text }),
    cache,
    lastErrors,
    given: { MAX_CONNECTIONS: "100" },
  });
  return createOpsServer({ registry, readReadiness, readStatus, cache, host, log: pino({ enabled: false }) });
}

test.each([
  [{}, "greeting 1.2.3: ready\n"],
  [{ reason: "services not ready: no database" }, "greeting 1.2.3: ready, but services not ready: no database\n"],
  [{ isReady: false, reason: "starting" }, "greeting 1.2.3: not ready: starting\n"],
])("the first line of the text says whether the process is ready, and why not: %o", async (given, line) => {
  const { text } = await request(createServer(given)).get("/");
  expect(text).toMatch(new RegExp(`^${line}`));
});

test.each([
  ["release", /Release +1\.2\.3$/m],
  ["commit", /Commit +abc$/m],
  ["uptime", /Running +for \d+ s, since \d\d-\d\d \d\d:\d\d:\d\d$/m],
  ["services with their last error", /Services +last failure at 01-02 03:04:05: none$/m],
  ["channel", /Channel +connected$/m],
  ["evictions of the cache", /Cache +1 entries, 2\.0 KiB, 7 evicted$/m],
  ["requests that were shed, with the reason", /Shed +24 requests \(queue\)$/m],
  ["limits, with bars in browsers", /MAX_CONNECTIONS +95 +100\* +95 %\n +MAX_ENCODERS +2 +100 +2 %$/m],
  ["cache in front", /Cache in front +purged after each edit$/m],
  ["routes: requests, rate, p50, p99, errors and hit rate", /\/none +4 +\d+\.\d +150\.0 +199\.0 +1 +75 %$/m],
  [
    "last errors without passwords and queries",
    /01-02 03:04:05 +1 +render failed: Error: none postgres:\/\/db\/x \(request\n +id-1\)$/m,
  ],
  ["largest entries", /Largest cache entries\n +Cache key +KiB +Age\n +\/none +2\.0 +90 s$/m],
  ["command at its own port", /curl -X POST 'http:\/\/127\.0\.0\.1:\d+\/cache\/invalidate\?path=\/posts\/1'$/m],
  ["oldest entries", /Oldest cache entries\n +Cache key +KiB +Age\n +\/none +2\.0 +90 s$/m],
])("the page shows the %s", async (_what, pattern) => {
  const server = createServer();
  const { text, headers } = await request(server).get("/");
  expect(text).toMatch(pattern);
  expect([headers["content-type"], headers["cache-control"]]).toEqual(["text/plain; charset=utf-8", "no-store"]);
});

test.each(["none", "x".repeat(300), "many words ".repeat(50)])(
  "no line of the text is over 80 characters: %s",
  async (text) => {
    const { text: page } = await request(createServer({ text, reason: text })).get("/");
    expect(page.split("\n").filter((line) => line.length > 80 && !line.includes("curl"))).toEqual([]);
  },
);

test.each([
  ["the page", "get", "/", 200],
  ["the answer to a purge", "post", "/cache/invalidate?path=/known", 200],
  ["the answer to a mistake", "post", `/cache/invalidate?path=${encodeURIComponent(ATTACK)}`, 404],
] as const)("in %s for browsers, a stranger's text is text", async (_what, method, path, status) => {
  const server = createServer({ text: ATTACK, reason: ATTACK });
  const response = await request(server)[method](path).set(HTML);
  expect([response.status, response.type]).toEqual([status, "text/html"]);
  expect(response.text).not.toMatch(/<script|[^\n\P{Cc}]|\u202e|"'&[^a]/u);
  expect(response.text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;");
  expect(response.headers["content-security-policy"]).toMatch(
    /^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
  );
});

test("in the text, a stranger's text can't move the cursor", async () => {
  const { text } = await request(createServer({ text: ATTACK, reason: ATTACK })).get("/");
  expect(text).not.toMatch(/[^\n\P{Cc}]|\u202e/u);
});

test.each([
  ["with an address", "get", {}, 200],
  ["through kubectl port-forward", "get", { Host: "localhost:8080" }, 200],
  ["with OPS_HOST", "get", { Host: "ops.example.org:3001" }, 200],
  ["of a health check", "head", {}, 200],
  ["with another host", "get", { Host: "rebound.example:3001" }, 403],
  ["from a page of another site", "get", { "Sec-Fetch-Site": "cross-site" }, 403],
  ["from another port of the host", "get", { "Sec-Fetch-Site": "same-site" }, 403],
  ["of another origin", "get", { Origin: "http://evil.example" }, 403],
  ["with another method", "post", {}, 405],
] as const)("a request for the page %s (%s %o) has status %i", async (_label, method, headers, status) => {
  const agent = request(createServer({ host: "ops.example.org" }));
  expect((await agent[method]("/").set(headers)).status).toBe(status);
});

test.each([
  ["a path", "path=/known", 200, "Purged: 1"],
  ["a mistyped path", "path=/shpo", 404, "Nothing purged"],
  ["everything", "all=on", 200, "Purged: 1"],
  ["nothing", "", 400, "Nothing purged"],
])("the form purges %s (%s): status %i", async (_what, form, status, title) => {
  const server = createServer();
  const response = await request(server).post("/cache/invalidate").type("form").set(HTML).send(form);
  expect([response.status, response.text]).toEqual([status, expect.stringContaining(`<h1>${title}</h1>`)]);
});

test("the answer to a purge says whether the cache in front is purged, too", () => {
  const purged = { invalidated: 1, keys: ["/"], others: "published" as const, confirmed: ["web-1", "web-2"] };
  expect(describePurge([200, { ...purged, edge: "queued" }])).toMatchObject({
    state: "each process heard from in the last hour has confirmed; the cache in front is purged within a second",
    isGood: true,
  });
  expect(describePurge([200, { ...purged, edge: "retrying" }])).toMatchObject({
    state:
      "each process heard from in the last hour has confirmed; the cache in front isn't purged: this process tries again",
    isGood: false,
  });
});

test("the answer to a purge names the processes that have confirmed it, and those that haven't", () => {
  const purged = { invalidated: 1, keys: ["/"], confirmed: ["web-1", "web-2"], unconfirmed: ["web-3"] };
  const page = describePurge([202, { ...purged, others: "unconfirmed" }]);
  expect(page).toMatchObject({ state: expect.stringMatching(/^some processes haven't confirmed/), isGood: false });
  expect(renderText(page, "localhost:3001")).toMatch(/web-1 +confirmed\n +web-2 +confirmed\n +web-3 +not confirmed\n/);
});

test("a form of more than 8 KB gets 413", async () => {
  const post = request(createServer()).post("/cache/invalidate").type("form");
  expect((await post.send(`path=/${"x".repeat(8192)}`)).status).toBe(413);
});

test("equal errors are one line, the last 20 different ones are kept, and long ones are cut", () => {
  const { record, list } = createLastErrors();
  const write = (message: string) =>
    record(JSON.stringify({ time: "t", msg: "render failed", "exception.message": message }));
  for (let i = 0; i < 30; i += 1) write(`error ${i}`);
  for (let i = 0; i < 3; i += 1) write("error 15");
  write("x".repeat(100_000));
  expect(list()).toHaveLength(20);
  expect(list()[0]?.message.length).toBeLessThan(300);
  expect(list()[1]).toMatchObject({ message: "render failed: error 15", times: 4 });
  expect(list().at(-1)?.message).toBe("render failed: error 11");
  const shed = { time: "t", msg: "request", "http.route": "/slow", "http.response.status_code": 503 };
  for (let i = 0; i < 3; i += 1) record(JSON.stringify({ ...shed, "url.path": `/slow/${i}` }));
  expect(list()[0]).toMatchObject({ message: "request: 503", where: "/slow", times: 3 });
});

test("routes are compared with the last look that is 10 s old or more", async () => {
  const { registry, duration, abandoned } = createRegistry();
  let now = 60_000;
  const look = createRouteUsage(registry, () => now);
  const visit = (seconds: number, error_type = "") =>
    duration.observe({ http_route: "/", http_response_status_code: 200, error_type }, seconds);
  for (let i = 0; i < 120; i += 1) visit(0.05);
  expect(await look()).toMatchObject({ seconds: 60, isSinceStart: true, routes: [{ requests: 120, perSecond: 2 }] });
  now += 5000;
  expect(await look()).toMatchObject({ seconds: 65, isSinceStart: true });
  visit(5);
  visit(3600, "aborted");
  abandoned.inc({ http_route: "/" });
  now += 15_000;
  expect(await look()).toEqual({
    seconds: 20,
    isSinceStart: false,
    routes: [
      {
        route: "/",
        requests: 2,
        perSecond: 0.1,
        p50: Number.POSITIVE_INFINITY,
        p99: Number.POSITIVE_INFINITY,
        errors: 1,
        hitRate: undefined,
      },
    ],
  });
});
