import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exchange } from "./support/exchange.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, SERVER_ENV, startServer } from "./support/start-server.ts";

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.stop());

const ASSET = `/assets/${readdirSync(`${SITE}/build/client/assets`).find((name) => name.endsWith(".js"))}`;

const EVERY_KIND = [
  ["home", "/"],
  ["an unknown page", "/unknown"],
  // No pattern of React Router's matches a line break.
  ["an unknown page with a line break", "/%0a"],
  ["an icon", "/favicon.ico"],
  ["a text file", "/robots.txt"],
  ["an asset", ASSET],
  ["an unknown asset", "/assets/unknown.js"],
  ["the folder of the assets", "/assets"],
  ["an asset without a name", "/assets/"],
] as const;

/** Sends a request over a new connection, which the server closes after its response. */
async function send(method: string, path: string, ...headers: string[]) {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...headers, "", ""];
  const { responses, isClosed } = await exchange(server.url, lines.join("\r\n"));
  expect(isClosed).toBe(true);
  expect(responses).toHaveLength(1);
  return responses[0] as (typeof responses)[0];
}

test.each(EVERY_KIND)("HEAD of %s has the headers of GET, and no body", async (_label, path) => {
  for (const headers of [
    ["Accept-Encoding: br"],
    ["Accept-Encoding: gzip"],
    [],
    ["Range: bytes=0-9"],
    ["Range: bytes=9999999-"],
    ["If-None-Match: *"],
    ["Host: second"],
  ]) {
    // Range is for GET only (RFC 9110 §14.2).
    const forGet = await send("GET", path, ...headers.filter((line) => !line.startsWith("Range")));
    const forHead = await send("HEAD", path, ...headers);
    for (const response of [forGet, forHead]) {
      // A nonce is new each time, time passes, and HEAD has no framing of a rendered body (RFC 9110 §9.3.2).
      for (const name of ["age", "cache-status", "date", "transfer-encoding", "x-request-id"]) {
        delete response.headers[name];
      }
      response.headers["cache-control"] =
        response.headers["cache-control"]?.replace(/s-maxage=\d+/, "s-maxage=60") ?? "";
      response.headers["content-security-policy"] &&= maskNonces(response.headers["content-security-policy"]);
    }
    expect(forHead).toEqual({ ...forGet, body: "" });
  }
});

function maskNonces(policy: string) {
  return policy.replaceAll(/'nonce-[^']+'/g, "'nonce'");
}

test.each(EVERY_KIND)("every response for %s has Cache-Control", async (_label, path) => {
  const responses = [
    await send("GET", path),
    await send("POST", path),
    await send("GET", path, "Host: second"),
    await send("GET", path, "If-None-Match: *"),
    await send("GET", path, "Range: bytes=9999999-"),
    await send("GET", path, "Range: bytes=0-0"),
  ];
  for (const { headers } of responses) expect(headers["cache-control"]).toBeTruthy();
});

test.each([
  ["home", "/"],
  ["an asset", ASSET],
])("304 for %s has the Vary, Cache-Control and ETag of 200", async (_label, path) => {
  const whole = await send("GET", path, "Accept-Encoding: br");
  const again = await send("GET", path, "Accept-Encoding: br", `If-None-Match: ${whole.headers.etag}`);
  expect(again.status).toBe(304);
  for (const name of ["vary", "cache-control", "etag"]) {
    expect(again.headers[name]).toBeTruthy();
    expect(again.headers[name]).toBe(whole.headers[name]);
  }
});

test.each(["br", "identity"])("a range of an asset is uncompressed, also for %s", async (coding) => {
  const ranged = await send("GET", ASSET, "Range: bytes=10-19", `Accept-Encoding: ${coding}`);
  const whole = await send("GET", ASSET, "Accept-Encoding: identity");
  expect([ranged.status, ranged.body]).toEqual([206, whole.body.slice(10, 20)]);
});

test("an asset without a compressed form is sent uncompressed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "greeting-"));
  const filter = (path: string) => !path.endsWith("film.mp4");
  cpSync(`${SITE}/build`, join(folder, "build"), { recursive: true, filter });
  rmSync(join(folder, `build/client${ASSET}.br`));
  const incomplete = await startServer(SERVER_ENV, folder);
  const response = await fetch(incomplete.url + ASSET, { headers: { "Accept-Encoding": "br" } });
  expect([response.status, response.headers.get("Content-Encoding")]).toEqual([200, null]);
  expect(await response.text()).toBe(readFileSync(`${SITE}/build/client${ASSET}`, "utf8"));
  await incomplete.stop();
  rmSync(folder, { recursive: true });
});
