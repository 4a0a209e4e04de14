import { expect, inject, test } from "vitest";
import { startServer } from "./support/start-server.ts";

const FOLDER = inject("grownFolder");
const CONNECTIONS = 16;
/** Twice as many as there is room for. */
const ADDRESSES = 20_000;
/** Of a query nothing counts but `page`, and nothing else is to stay in memory. */
const CAMPAIGN = "x".repeat(15_000);
const PAGES = ["posts/1?page=", "posts/"];

test("however many addresses are asked for, memory is bounded, and none costs the greeting", async () => {
  // Queries that were kept would need 150 MB.
  const server = await startServer({ NODE_OPTIONS: "--max-old-space-size=96" }, FOLDER);
  const statuses = new Set<number>();
  const greetings = new Set<string>();
  let next = 0;
  const visit = async () => {
    while (next < ADDRESSES) {
      const id = next++;
      const path = `/example-pages/${PAGES[id % 2]}${1000 + id}`;
      const response = await fetch(`${server.url}${path}${id % 2 ? "?" : "&"}utm_campaign=${CAMPAIGN}`);
      await response.arrayBuffer();
      statuses.add(response.status);
      if (id % 100 === 0) greetings.add((await fetch(server.url)).headers.get("Cache-Status") ?? "");
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, visit));
  expect([...statuses].sort()).toEqual([200, 404]);
  expect([...greetings].filter((status) => !status.includes("; hit"))).toEqual([]);
  expect(await server.stop()).toBe(0);
});
