import { get } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { findOpenFiles } from "./support/open-files.ts";
import { startServer } from "./support/start-server.ts";

const REQUESTS = 10_000;
const CLIENTS = 50;
const PAGES = "/example-pages";

/** Sends requests one after the other. */
async function sendMany(send: () => Promise<unknown>) {
  for (let count = 0; count < REQUESTS / CLIENTS; count += 1) await send();
}

type Send = (url: string) => Promise<unknown>;

const leaveAfterFirstBytes: Send = (url) =>
  new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => response.once("data", () => request.destroy()));
    request.on("error", () => {}).on("close", resolve);
  });
const readToEnd: Send = (url) =>
  fetch(url)
    .then((response) => response.arrayBuffer())
    .catch(() => {}); // If the body fails, the connection is closed.

test.for<[what: string, path: string, send: Send]>([
  ["HEAD requests", "/file/react-router", (url) => fetch(url, { method: "HEAD" })],
  ["GET requests", "/cached-file/cookie", readToEnd],
  ["streams that fail in the middle", "/file/react-router/fails", readToEnd],
  [
    "clients that leave before the response",
    "/file/react-router/waits",
    (url) => fetch(url, { signal: AbortSignal.timeout(20) }).catch(() => {}),
  ],
  ["clients that leave in the middle", "/file/react-router", leaveAfterFirstBytes],
])(`after ${REQUESTS} %s, no file is open`, async ([, path, send]) => {
  const server = await startServer();
  onTestFinished(async () => void (await server.stop()));
  await Promise.all(Array.from({ length: CLIENTS }, () => sendMany(() => send(server.url + PAGES + path))));
  await expect.poll(() => findOpenFiles(server)).toEqual([]);
  expect((await fetch(server.url)).status).toBe(200);
});
