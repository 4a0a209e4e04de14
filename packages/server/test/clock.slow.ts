import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const STEPS_OF_CLOCK = fileURLToPath(new URL("support/steps-of-clock.mjs", import.meta.url));
const HALF_HOUR_MS = 1_800_000;

test("a wall clock that steps an hour ahead or back changes no page's lifetime", async () => {
  const { url, child, stop } = await startServer({}, SITE, [process.execPath, "--import", STEPS_OF_CLOCK]);
  onTestFinished(async () => void (await stop()));
  const readAge = async (path: string) => Number((await fetch(url + path)).headers.get("Age"));
  /** How far the process's clock is ahead. The page is fresh for a second. */
  const readOffset = async () => {
    const page = await (await fetch(`${url}/example-pages/kept-clock`)).text();
    return Date.parse(/<time dateTime="(.*?)"/.exec(page)?.[1] ?? "") - Date.now();
  };
  const step = () => child.kill("SIGUSR2");
  await readAge("/example-pages/events");

  step();
  await expect.poll(readOffset).toBeGreaterThan(HALF_HOUR_MS);
  expect(await readAge("/example-pages/events")).toBeLessThan(HALF_HOUR_MS / 1000);
  step();
  await expect.poll(readOffset).toBeLessThan(-HALF_HOUR_MS);
  step();
  await expect.poll(async () => Math.abs(await readOffset())).toBeLessThan(HALF_HOUR_MS);
});
