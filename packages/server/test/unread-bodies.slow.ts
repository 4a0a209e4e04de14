import { once } from "node:events";
import { get } from "node:http";
import { expect } from "vitest";
import { test } from "./support/fixtures.ts";
import { findOpenFiles } from "./support/open-files.ts";
import { readMetric } from "./support/process-metrics.ts";

const REQUESTS = 20;
const PAGES = "/example-pages";

type Send = (url: string) => Promise<unknown>;

const head: Send = (url) => fetch(url, { method: "HEAD" });
/** Disconnects once the first bytes of the response have arrived. */
const leaveAfterFirstBytes: Send = (url) =>
  new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => response.once("data", () => request.destroy()));
    request.on("error", () => {}).on("close", resolve);
  });
/** Disconnects while the loader runs. */
const leaveBefore =
  (method: string): Send =>
  (url) =>
    fetch(url, { method, signal: AbortSignal.timeout(30) }).catch(() => {});
const readToEnd: Send = (url) =>
  fetch(url)
    .then((response) => response.arrayBuffer())
    .catch(() => {}); // If the body fails, the connection is closed.
const revalidate: Send = async (url) => {
  const etag = (await fetch(url, { method: "HEAD" })).headers.get("ETag") ?? "";
  // Not with fetch, which would add `Cache-Control: no-cache`.
  const request = get(url, { headers: { "If-None-Match": etag } });
  const [response] = await once(request, "response");
  response.resume();
  expect(response.statusCode).toBe(304);
};

const REQUESTS_FOR_STREAMS: [what: string, path: string, send: Send][] = [
  ["HEAD", "", head],
  ["HEAD that leaves before the response", "/waits", leaveBefore("HEAD")],
  ["HEAD for a file that doesn't exist", "/missing", head],
  ["GET that leaves before the response", "/waits", leaveBefore("GET")],
  ["GET that leaves in the middle", "", leaveAfterFirstBytes],
  ["GET whose middleware sends 304", "/not-modified", readToEnd],
  ["GET whose middleware fails", "/fails-later", readToEnd],
  ["GET of middleware's file, in whose place other middleware sends 304", "/middleware-not-modified", readToEnd],
  ["GET of middleware's file, after which other middleware fails", "/middleware-fails-later", readToEnd],
  ["HEAD of middleware's file", "/middleware-file", head],
  ["GET of middleware's file that leaves in the middle", "/middleware-file", leaveAfterFirstBytes],
  ["GET of a stream that fails in the middle", "/fails", readToEnd],
  ["GET of a stream whose chunks aren't bytes", "/objects", readToEnd],
  ["GET of a file that doesn't exist", "/missing", readToEnd],
  ["GET of the data, which are too large", ".data", readToEnd],
  ["GET of the data that the loader throws, which are too large", "/thrown.data", readToEnd],
];

test.for(
  ["react-router", "node", "own"].flatMap((way) =>
    REQUESTS_FOR_STREAMS.map(([what, path, send]) => [what, `${PAGES}/file/${way}${path}`, send] as const),
  ),
)("%s of %s leaves no file open", async ([, path, send], { server }) => {
  await Promise.all(Array.from({ length: REQUESTS }, () => send(server.url + path)));
  await expect.poll(() => findOpenFiles(server)).toEqual([]);
  expect((await fetch(server.url)).status).toBe(200);
  await expect.poll(() => readMetric(server, 'server_limit_usage{setting="MAX_OPEN_RESPONSES"}')).toBe(0);
});

test.for<[string, string, Send]>([
  ["HEAD", "/film.mp4", head],
  ["GET that leaves in the middle", "/film.mp4", leaveAfterFirstBytes],
  ["GET that has not been modified", "/film.mp4", revalidate],
  ["HEAD", `${PAGES}/cached-file/works`, head],
  ["GET", `${PAGES}/cached-file/works`, readToEnd],
  ["HEAD that isn't cacheable", `${PAGES}/cached-file/cookie`, head],
  ["GET that isn't cacheable", `${PAGES}/cached-file/cookie`, readToEnd],
  ["HEAD that fails", `${PAGES}/cached-file/fails`, head],
  ["GET that fails", `${PAGES}/cached-file/fails`, readToEnd],
])("%s of %s leaves no file open", async ([, path, send], { server }) => {
  await Promise.all(Array.from({ length: REQUESTS }, () => send(server.url + path)));
  await expect.poll(() => findOpenFiles(server)).toEqual([]);
});

test("a cached response that isn't complete in time leaves no file open", async ({ server }) => {
  // The first client of a render that fails gets a response of its own. That one hangs, too, and the client gets 503.
  const response = fetch(`${server.url}${PAGES}/cached-file/hangs`);
  await expect.poll(() => findOpenFiles(server)).toHaveLength(1);
  expect((await response).status).toBe(503);
  await expect.poll(() => findOpenFiles(server)).toEqual([]);
});

test("a resource route's data that are too large for a fetcher get 406, and no error is logged", async ({ server }) => {
  const before = server.lines.length;
  for (const path of ["", "/thrown"]) {
    expect((await fetch(`${server.url}${PAGES}/file/node${path}.data`)).status).toBe(406);
  }
  expect(server.lines.slice(before).filter(({ msg }) => msg === "render failed")).toEqual([]);
  const data = await fetch(`${server.url}${PAGES}/temperature.data`);
  expect([data.status, await data.text()]).toEqual([200, expect.stringContaining("celsius")]);
});
