// Compression dictionaries (RFC 9842). The server never decodes a dcz body, so these bodies need no zstd.
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toReleasePattern } from "../src/parts/files/client-files.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, SERVER_ENV, startServer } from "./support/start-server.ts";

const folder = mkdtempSync(join(tmpdir(), "greeting-"));
const findAsset = (name: RegExp) =>
  `/assets/${readdirSync(`${SITE}/build/client/assets`).find((file) => name.test(file))}`;
const CHANGED = findAsset(/^entry\.client-.*\.js$/);
const UNCHANGED = findAsset(/^home-.*\.js$/);
const VARY = "Accept-Encoding, Available-Dictionary";

const RELEASES = ["the last release", "the release before"].map((content) => {
  const hash = createHash("sha256").update(content).digest();
  const body = Buffer.concat([Buffer.from("5e2a4d1820000000", "hex"), hash, Buffer.from(`since ${content}`)]);
  return { dictionary: `:${hash.toString("base64")}:`, body };
});
const [LAST, BEFORE] = RELEASES as [(typeof RELEASES)[0], (typeof RELEASES)[0]];

let server: RunningServer;

beforeAll(async () => {
  cpSync(`${SITE}/build`, join(folder, "build"), { recursive: true });
  for (const [index, { body }] of RELEASES.entries()) {
    writeFileSync(join(folder, `build/client${CHANGED}.${index + 1}.dcz`), body);
  }
  server = await startServer(SERVER_ENV, folder);
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Sends a request as Chromium does if it has a dictionary. */
async function send(path: string, dictionary?: string, headers = {}, method = "GET") {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      "Accept-Encoding": "gzip, deflate, br, zstd, dcb, dcz",
      ...(dictionary !== undefined && { "Available-Dictionary": dictionary }),
      ...headers,
    },
  });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: Object.fromEntries(response.headers), body };
}

test.each(RELEASES)("a browser that has a file of an earlier release gets the difference", async (release) => {
  const headers = { "content-encoding": "dcz", "content-length": `${release.body.length}`, vary: VARY };
  const { dictionary, body } = release;
  expect(await send(CHANGED, dictionary)).toMatchObject({ status: 200, headers, body });
  expect(await send(CHANGED, dictionary, {}, "HEAD")).toMatchObject({ status: 200, headers, body: Buffer.alloc(0) });
});

test.each([
  ["no dictionary", undefined, {}],
  ["the dictionary of an older release", `:${"A".repeat(43)}=:`, {}],
  ["a malformed dictionary", LAST.dictionary.slice(1), {}],
  ["no dcz", LAST.dictionary, { "Accept-Encoding": "gzip, deflate, br, zstd" }],
  ["refused dcz", LAST.dictionary, { "Accept-Encoding": "br, dcz;q=0" }],
])("a browser that has %s gets brotli", async (_label, dictionary, accepted) => {
  const { headers, body } = await send(CHANGED, dictionary, accepted);
  expect(headers).toMatchObject({ "content-encoding": "br", vary: VARY });
  expect(body.length).toBeGreaterThan(1000);
});

test("each variant has its own entity tag, and a client that sends the tag gets 304", async () => {
  const etags = new Set<string | undefined>();
  for (const dictionary of [undefined, LAST.dictionary, BEFORE.dictionary]) {
    const { etag } = (await send(CHANGED, dictionary)).headers;
    const again = await send(CHANGED, dictionary, { "If-None-Match": etag });
    expect(again).toMatchObject({ status: 304, headers: { etag, vary: VARY } });
    etags.add(etag);
  }
  expect(etags.size).toBe(3);
});

test("scripts and styles may be dictionaries for the next release, other files not", async () => {
  expect((await send(CHANGED)).headers["use-as-dictionary"]).toBe('match="/assets/entry.client-*.js"');
  expect((await send(UNCHANGED, LAST.dictionary)).headers).toMatchObject({
    "content-encoding": "br",
    "use-as-dictionary": 'match="/assets/home-*.js"',
    vary: "Accept-Encoding",
  });
  expect((await send("/icon.svg")).headers).not.toHaveProperty("use-as-dictionary");
  expect((await send(`${CHANGED}.1.dcz`)).status).toBe(404);
});

test.each([
  ["/assets/docs-a-B_-12345.css", "/assets/docs-a-*.css"],
  ["/assets/(group)-12345678.js", undefined],
  ["/assets/über-12345678.js", undefined],
  ["/assets/photo-12345678.jpg", undefined],
  ["/assets/short-1234.js", undefined],
])("the pattern of %s is %s", (urlPath, pattern) => expect(toReleasePattern(urlPath)).toBe(pattern));
