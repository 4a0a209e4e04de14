// The requests and answers are those of the documentation:
// https://developers.cloudflare.com/api/resources/cache/methods/purge/ and
// https://www.fastly.com/documentation/reference/api/purging/#bulk-purge-tag
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { createCloudflarePurge, createFastlyPurge, createNginxPurge } from "./purge.ts";

type Recorded = { method: string | undefined; url: string | undefined; headers: object; body: unknown };

/** A stand-in for a service, which gets all requests and has an answer for each. */
async function startService(answer: (body: string) => [status: number, body: unknown, headers?: object]) {
  const requests: Recorded[] = [];
  const server = createServer(async (req, res) => {
    const body = await text(req);
    requests.push({ method: req.method, url: req.url, headers: req.headers, body: body ? JSON.parse(body) : "" });
    const [status, value, headers] = answer(body);
    res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(value));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { fetch } = globalThis;
  const hosts: string[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    hosts.push(new URL(url).origin);
    return fetch(origin + new URL(url).pathname, init);
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    server.close();
  });
  return { requests, hosts };
}

const TAGS = ["a", "/b"];
const INVALIDATION = { groups: [], paths: ["/", "/shop"], prefixes: [], tags: TAGS };

test("Cloudflare is asked to purge up to 100 tags", async () => {
  const success = { success: true, errors: [], messages: [], result: { id: "023e105f4ecef8ad9ca31a8372d0c353" } };
  const { requests, hosts } = await startService(() => [200, success]);
  const purge = createCloudflarePurge({ zone: "zone-1", token: "secret" });
  await purge.send(INVALIDATION);
  expect(purge.toHeaders?.(["a", "/b"])).toEqual({ "Cache-Tag": "a,/b" });
  expect(purge.maxTags).toBe(100);
  expect(hosts).toEqual(["https://api.cloudflare.com"]);
  expect(requests).toMatchObject([
    {
      method: "POST",
      url: "/client/v4/zones/zone-1/purge_cache",
      headers: { authorization: "Bearer secret", "content-type": "application/json" },
      body: { tags: TAGS },
    },
  ]);
});

test("Fastly is asked to purge up to 256 keys", async () => {
  const { requests, hosts } = await startService((body) => {
    const { surrogate_keys: keys } = JSON.parse(body) as { surrogate_keys: string[] };
    return [200, Object.fromEntries(keys.map((key) => [key, "108-1391560174-974124"]))];
  });
  const purge = createFastlyPurge({ service: "service-1", token: "secret" });
  await purge.send(INVALIDATION);
  expect(purge.toHeaders?.(["a", "/b"])).toEqual({ "Surrogate-Key": "a /b" });
  expect(purge.maxTags).toBe(256);
  expect(hosts).toEqual(["https://api.fastly.com"]);
  expect(requests).toMatchObject([
    {
      method: "POST",
      url: "/service/service-1/purge",
      headers: { "fastly-key": "secret", "content-type": "application/json" },
      body: { surrogate_keys: TAGS },
    },
  ]);
});

test("each nginx is asked to replace the paths of pages and their data", async () => {
  const { requests, hosts } = await startService(() => [404, ""]);
  const urls = ["http://10.0.0.1:6081", "http://10.0.0.2:6081"];
  await createNginxPurge({ urls }).send(INVALIDATION);
  expect(new Set(hosts)).toEqual(new Set(["http://10.0.0.1:6081", "http://10.0.0.2:6081"]));
  const paths = ["/", "/_root.data", "/shop", "/shop.data"];
  expect(requests.map(({ url }) => url).sort()).toEqual(paths.flatMap((path) => [path, path]));
  for (const { headers } of requests) expect(headers).toMatchObject({ "x-purge": "1" });
});

test.each([
  ["Cloudflare", 429, createCloudflarePurge({ zone: "zone-1", token: "secret" })],
  ["Fastly", 401, createFastlyPurge({ service: "service-1", token: "secret" })],
  ["nginx", 502, createNginxPurge({ urls: ["http://10.0.0.1"] })],
])("if %s refuses with %i, the error has status and reason, and no token", async (_name, status, purge) => {
  await startService(() => [status, { msg: "refused" }]);
  const error = await purge.send(INVALIDATION).then(
    () => "",
    (error) => String(error),
  );
  expect(error).toContain(`has status ${status}: {"msg":"refused"}`);
  expect(error).not.toContain("secret");
});

test.each([
  ["seconds", "30", 30, 30],
  ["a date", new Date(Date.now() + 3_600_000).toUTCString(), 3000, 3600],
  ["a date that is over", new Date(0).toUTCString(), 0, 0],
  ["something else", "soon", 0, 0],
  ["nothing", undefined, 0, 0],
])(
  "if a service that limits the rate sends %s in Retry-After, the error has the seconds",
  async (_what, value, min, max) => {
    await startService(() => [429, "", value === undefined ? {} : { "Retry-After": value }]);
    const { send } = createCloudflarePurge({ zone: "zone-1", token: "secret" });
    const { retryAfterSeconds } = await send(INVALIDATION).then(
      () => expect.unreachable(),
      (error) => error,
    );
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(min);
    expect(retryAfterSeconds).toBeLessThanOrEqual(max);
  },
);
