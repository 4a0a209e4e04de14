import { get } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { findOpenFiles } from "./support/open-files.ts";
import { startServer } from "./support/start-server.ts";

const REQUESTS = 10_000;
const CLIENTS = 50;
const FILE = "/example-pages/file/react-router";

/** Sends requests one after the other. */
async function sendMany(send: () => Promise<unknown>) {
  for (let count = 0; count < REQUESTS / CLIENTS; count += 1) await send();
}

const leaveAfterFirstBytes = (url: string) =>
  new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => response.once("data", () => request.destroy()));
    request.on("error", () => {}).on("close", resolve);
  });

test.for<[string, (url: string) => Promise<unknown>]>([
  ["HEAD requests", (url) => fetch(url, { method: "HEAD" })],
  [
    "clients that leave before the response",
    (url) => fetch(`${url}/waits`, { signal: AbortSignal.timeout(20) }).catch(() => {}),
  ],
  ["clients that leave in the middle", leaveAfterFirstBytes],
])(`after ${REQUESTS} %s, no file is open`, async ([, send]) => {
  const server = await startServer();
  onTestFinished(async () => void (await server.stop()));
  await Promise.all(Array.from({ length: CLIENTS }, () => sendMany(() => send(server.url + FILE))));
  await expect.poll(() => findOpenFiles(server)).toEqual([]);
  expect((await fetch(server.url)).status).toBe(200);
});
