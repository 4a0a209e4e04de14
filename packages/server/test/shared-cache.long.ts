import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startNginx } from "./support/nginx.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const FOLDER = SITE;
const AWAY_MS = Number(process.env.AWAY_SECONDS ?? 20) * 1000;
const VISIT_INTERVAL_MS = 20;

test("a cache in front serves a cached page while it is revalidated, and while the server is away", async () => {
  const server = await startServer({}, FOLDER);
  const { port, host } = new URL(server.url);
  const nginx = await startNginx("", `proxy_pass http://${host}; proxy_cache cache; proxy_cache_background_update on;`);
  onTestFinished(nginx.stop);
  const outcomes: Record<string, number> = {};
  const times = new Set<string>();
  let isOver = false;
  const visits = (async () => {
    while (!isOver) {
      const response = await fetch(`${nginx.url}/example-pages/kept-clock`);
      outcomes[response.status] = (outcomes[response.status] ?? 0) + 1;
      expect(response.headers.get("X-Request-Id")).toBe(null);
      times.add(/<time dateTime="(.*?)"/.exec(await response.text())?.[1] ?? "");
      await setTimeout(VISIT_INTERVAL_MS);
    }
  })();
  const waitForNews = (count: number) => expect.poll(() => times.size).toBeGreaterThan(count);

  await waitForNews(3);
  await server.stop();
  const { size } = times;
  await setTimeout(AWAY_MS);
  expect(times.size - size).toBeLessThan(2);
  const back = await startServer({ PORT: port }, FOLDER);
  await waitForNews(times.size);
  isOver = true;
  await visits;
  console.log(outcomes);
  expect(outcomes).toEqual({ 200: expect.any(Number) });
  expect(outcomes[200]).toBeGreaterThan(AWAY_MS / VISIT_INTERVAL_MS / 10);
  await back.stop();
});

test("a cache in front sends a page with variants in each visitor's language, and never one by cookie", async () => {
  const server = await startServer({}, FOLDER);
  onTestFinished(async () => void (await server.stop()));
  const { host } = new URL(server.url);
  const nginx = await startNginx(
    "",
    `proxy_pass http://${host}; proxy_cache cache; add_header X-Front $upstream_cache_status;`,
  );
  onTestFinished(nginx.stop);
  const visit = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(nginx.url + path, { headers: { ...headers, "Accept-Encoding": "identity" } });
    const found = /<h1>(Hello|Hallo|你好)|currency=(EUR|USD)/.exec(await response.text());
    return [found?.[1] ?? found?.[2], response.headers.get("X-Front")];
  };
  const byLanguage = (language: string) => visit("/example-pages/hello", { "Accept-Language": language });
  expect(await byLanguage("en-US,en;q=0.9")).toEqual(["Hello", "MISS"]);
  expect(await byLanguage("de-AT,de;q=0.9,en;q=0.8")).toEqual(["Hallo", "MISS"]);
  expect(await byLanguage("zh-CN,zh;q=0.9")).toEqual(["你好", "MISS"]);
  expect(await byLanguage("en-US,en;q=0.9")).toEqual(["Hello", "HIT"]);
  expect(await byLanguage("de-AT,de;q=0.9,en;q=0.8")).toEqual(["Hallo", "HIT"]);
  expect(await byLanguage("zh-CN,zh;q=0.9")).toEqual(["你好", "HIT"]);
  const byCookie = (cookie: string) => visit("/example-pages/fares/rome", { Cookie: cookie });
  expect(await byCookie("currency=EUR")).toEqual(["EUR", "MISS"]);
  expect(await byCookie("currency=USD")).toEqual(["USD", "MISS"]);
  expect(await byCookie("currency=EUR")).toEqual(["EUR", "MISS"]);
});
