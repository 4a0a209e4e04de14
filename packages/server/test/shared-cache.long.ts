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
