// Parts of files (RFC 9110 §14), such as browsers request for films and sounds: from memory and from disk.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { exchange } from "./support/exchange.ts";
import { expect, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, SERVER_ENV, startServer } from "./support/start-server.ts";

const FOLDER = mkdtempSync(join(tmpdir(), "ranges-"));
const SOUND_SECONDS = 20;
/** It has compressed variants. */
const PATH = "/icon.svg";

let whole: string;
let size: number;

beforeAll(() => {
  cpSync(`${SITE}/build`, join(FOLDER, "build"), { recursive: true });
  whole = readFileSync(join(FOLDER, "build/client", PATH), "latin1");
  size = whole.length;
  writeFileSync(join(FOLDER, "build/client/sound.wav"), makeSound());
  writeFileSync(join(FOLDER, "build/client/empty.txt"), "");
});

afterAll(() => rmSync(FOLDER, { recursive: true }));

/** A quiet tone: 16-bit samples, 8,000 a second. */
function makeSound() {
  const samples = Int16Array.from({ length: SOUND_SECONDS * 8000 }, (_, index) => 100 * Math.sin(index / 3));
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.byteLength, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([head, Buffer.from(samples.buffer)]);
}

describe.each<{ where: string; env: Record<string, string> }>([
  { where: "in memory", env: {} },
  { where: "on disk", env: { STATIC_FILES_MAX_BYTES: "1000" } },
])("a file $where", ({ where, env }) => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer({ ...SERVER_ENV, ...env }, FOLDER);
  });

  afterAll(() => server.stop());

  async function send(method: string, path: string, ...lines: string[]) {
    const head = [`${method} ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines, "", ""];
    const { responses } = await exchange(server.url, head.join("\r\n"));
    expect(responses).toHaveLength(1);
    return responses[0] as (typeof responses)[0];
  }

  test.each<[range: string, start: number, end: number]>([
    ["0-9", 0, 10],
    ["5-5", 5, 6],
    ["9-", 9, Number.POSITIVE_INFINITY],
    ["9-999999999", 9, Number.POSITIVE_INFINITY],
    ["-7", -7, Number.POSITIVE_INFINITY],
    ["-999999999", 0, Number.POSITIVE_INFINITY],
  ])("bytes=%s gets 206 with these bytes of the uncompressed file", async (range, start, end) => {
    const { headers: forAll } = await send("GET", PATH);
    const { status, headers, body } = await send("GET", PATH, `Range: bytes=${range}`, "Accept-Encoding: br");
    const expected = whole.slice(start, end);
    const first = whole.indexOf(expected);
    expect([status, body]).toEqual([206, expected]);
    expect(headers).toMatchObject({
      "content-range": `bytes ${first}-${first + expected.length - 1}/${size}`,
      "content-length": String(expected.length),
      "content-type": forAll["content-type"],
      "cache-control": forAll["cache-control"],
      etag: forAll.etag,
      vary: forAll.vary,
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
    });
    expect(headers).not.toHaveProperty("content-encoding");
  });

  test.each(["bytes=0-1,4-5", "bytes=5-2", "bytes=", "bytes", "lines=0-9"])("%s gets the whole file", async (range) => {
    const { status, headers, body } = await send("GET", PATH, `Range: ${range}`);
    expect([status, body, headers["accept-ranges"]]).toEqual([200, whole, "bytes"]);
  });

  test("a range of several ranges is sent whole and compressed", async () => {
    const { status, headers } = await send("GET", PATH, "Range: bytes=0-1,4-5", "Accept-Encoding: br");
    expect([status, headers["content-encoding"]]).toEqual([200, "br"]);
  });

  test.each(["bytes=999999999-", "bytes=-0"])(
    "%s is unsatisfiable, and gets 416 with the file's size",
    async (range) => {
      const { status, headers } = await send("GET", PATH, `Range: ${range}`);
      expect([status, headers["content-range"], headers["cache-control"]]).toEqual([
        416,
        `bytes */${size}`,
        "no-store",
      ]);
      expect(headers["x-content-type-options"]).toBe("nosniff");
    },
  );

  test("HEAD ignores Range", async () => {
    const { status, headers } = await send("HEAD", PATH, "Range: bytes=0-9");
    expect([status, headers["content-length"], headers["content-range"]]).toEqual([200, String(size), undefined]);
  });

  test("an empty file is sent whole", async () => {
    for (const range of ["bytes=0-", "bytes=-1"]) {
      const { status, body } = await send("GET", "/empty.txt", `Range: ${range}`);
      expect([range, status, body]).toEqual([range, 200, ""]);
    }
  });

  test("If-Range gets the range for the same strong validator only", async () => {
    const { etag = "", "last-modified": date = "Thu, 01 Jan 2026 00:00:00 GMT" } = (await send("GET", PATH)).headers;
    const compressed = (await send("GET", PATH, "Accept-Encoding: br")).headers.etag ?? "";
    const later = new Date(Date.parse(date) + 1000).toUTCString();
    const strong = etag.replace("W/", "");
    const isInMemory = where === "in memory";
    expect(etag === strong).toBe(isInMemory);
    for (const [validator, status] of [
      [strong, isInMemory ? 206 : 200], // A tag that was made of a date is weak.
      [date, isInMemory ? 200 : 206], // Files in memory have no date.
      [`W/${strong}`, 200],
      [compressed, 200],
      ['"other"', 200],
      [later, 200],
      ["Thu, 01 Jan 1970 00:00:00 GMT", 200],
      ["nonsense", 200],
    ] as const) {
      const response = await send("GET", PATH, "Range: bytes=0-9", `If-Range: ${validator}`);
      expect([validator, response.status]).toEqual([validator, status]);
      expect(response.body).toBe(status === 206 ? whole.slice(0, 10) : whole);
    }
  });

  test("If-None-Match takes precedence over Range", async () => {
    const { etag } = (await send("GET", PATH)).headers;
    for (const range of ["0-9", "999999999-"]) {
      const { status } = await send("GET", PATH, `Range: bytes=${range}`, `If-None-Match: ${etag}`);
      expect([range, status]).toEqual([range, 304]);
    }
  });

  test("a page has no ranges", async () => {
    const { status, headers } = await send("GET", "/", "Range: bytes=0-9");
    expect([status, headers["accept-ranges"]]).toEqual([200, undefined]);
  });

  test("a browser plays a sound, and jumps to its end", async ({ page }) => {
    await page.goto(`${server.url}/robots.txt`);
    const statuses: number[] = [];
    page.on("response", (response) => void statuses.push(response.status()));
    const played = await page.evaluate(async (seconds) => {
      const audio = new Audio("/sound.wav");
      audio.muted = true;
      const happens = (event: string) =>
        new Promise((resolve) => audio.addEventListener(event, resolve, { once: true }));
      audio.preload = "metadata";
      await happens("loadedmetadata");
      const seeked = happens("seeked");
      audio.currentTime = seconds - 1;
      await seeked;
      const ended = happens("ended");
      await audio.play();
      await ended;
      return [audio.duration, audio.currentTime, audio.seekable.end(0)];
    }, SOUND_SECONDS);
    expect(played).toEqual([SOUND_SECONDS, SOUND_SECONDS, SOUND_SECONDS]);
    expect(new Set(statuses)).toEqual(new Set([206]));
  });
});
