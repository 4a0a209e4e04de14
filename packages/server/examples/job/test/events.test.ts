import { startEvents } from "../app/events.server.ts";
import { expect, test } from "./support/fixtures.ts";

test("the page is cached, and shows what the job has loaded", async ({ server }) => {
  const read = async () => (await fetch(`${server.url}/events`)).text();
  await expect.poll(read).toContain("Coffee tasting");
  expect((await fetch(`${server.url}/events`)).headers.get("Cache-Status")).toMatch(/; hit|stored/);
});

test("a job that fails is logged, runs again, and keeps its last result", async () => {
  const errors: string[] = [];
  const invalidated: string[] = [];
  let runs = 0;
  const events = startEvents({
    log: { error: (_fields, message) => errors.push(message) },
    cache: { invalidate: async (groups) => invalidated.push(...groups) },
    load: async () => {
      runs += 1;
      if (runs > 1) throw new Error("unreachable");
      return [{ title: "Tea", start: "2027-01-01T00:00:00Z" }];
    },
    intervalMs: 1,
  });
  await expect.poll(() => errors.length).toBeGreaterThan(1);
  expect(events.list()).toMatchObject([{ title: "Tea" }]);
  expect(invalidated).toEqual(["events"]);
  expect(errors[0]).toBe("loading the events failed");

  // At shutdown, the job finishes, and stays finished.
  await events.stop();
  const before = runs;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(runs).toBe(before);
});
