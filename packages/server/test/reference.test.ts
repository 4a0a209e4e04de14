import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeReference } from "./support/reference.ts";
import { startServer } from "./support/start-server.ts";

const FILE = new URL("../docs/reference.md", import.meta.url).pathname;

test("docs/reference.md has the settings, metrics and log messages of the code (npm run reference)", async () => {
  const { url, opsUrl, stop } = await startServer();
  await (await fetch(`${url}/example-pages/notes/1`)).text();
  const report = [{ type: "web-vitals", url: "/", body: { LCP: 1, CLS: 0 } }];
  const headers = { "Content-Type": "application/reports+json" };
  await fetch(`${url}/browser-reports`, { method: "POST", body: JSON.stringify(report), headers });
  const readMetrics = async () => (await fetch(`${opsUrl}/metrics`)).text();
  await expect.poll(readMetrics).toMatch(/^react_router_duration_seconds_count/m);
  const reference = makeReference(await readMetrics());
  expect(await stop()).toBe(0);
  await expect(reference).toMatchFileSnapshot(FILE);
});

test("no line of its tables is longer than 160 characters", () => {
  const tables = readFileSync(FILE, "utf8").match(/^\|.*$/gm) ?? [];
  expect(tables.length).toBeGreaterThan(100);
  expect(tables.filter((line) => line.length > 160)).toEqual([]);
});
