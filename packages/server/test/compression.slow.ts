import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import zlib, { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from "node:zlib"; // Node 20 has no zstd to import.
import express, { type RequestHandler } from "express";
import { onTestFinished, vi } from "vitest";
import { createLimits } from "../src/overload/index.ts";
import { compression } from "../src/parts/compress/compress.ts";
import { writeReadableStreamToWritable } from "../src/parts/render/streams/react-router-node.ts";
import { exchange } from "./support/exchange.ts";
import { expect, test } from "./support/fixtures.ts";
import { readMetric, readProcessMetrics } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

/** A crawler would get streamed pages whole. */
const USER_AGENT = "Mozilla/5.0 Chrome/150";
const FASTEST = "zstdDecompressSync" in zlib ? "zstd" : "br";
const CODINGS = [...new Set([FASTEST, "br", "gzip"] as const)];
const decode = { zstd: zlib.zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync };
const createDecoder = { zstd: zlib.createZstdDecompress, br: createBrotliDecompress, gzip: createGunzip };
type Coding = keyof typeof decode;
const CHUNK_BYTES = 64 * 1024;

type Options = { method?: string; coding?: string; headers?: IncomingHttpHeaders };

/** Sends a request. Resolves with the response before its body, and with the request, to abort it. */
function send(url: string, { method = "GET", coding, headers }: Options = {}) {
  const accepted = coding !== undefined && { "Accept-Encoding": coding };
  return new Promise<{ response: IncomingMessage; client: ClientRequest }>((resolve, reject) => {
    const options = { method, agent: false, headers: { "User-Agent": USER_AGENT, ...accepted, ...headers } };
    const client = request(url, options, (response) => resolve({ response, client }));
    client.on("error", reject).end();
  });
}

async function fetchWhole(url: string, options?: Options) {
  const { response } = await send(url, options);
  const bytes = await buffer(response);
  const { "content-encoding": coding, vary, etag, ...headers } = response.headers;
  const body = decode[coding as Coding]?.(bytes) ?? bytes;
  return { status: response.statusCode, coding, vary, etag, headers, bytes, body: body.toString("latin1") };
}

const VARY = "Accept-Encoding";
const respond = (query: string) => `/example-pages/response?${query}`;
const maskNonces = (html: string) => html.replaceAll(/nonce="[^"]+"/g, "");

test.for([
  ["a document", "/example-pages/sign-up", 200],
  ["a document whose data is streamed", "/example-pages/notes/1", 200],
  ["a page that isn't found", "/example-pages/notes/3", 404],
  ["data that is streamed", "/example-pages/notes/1.data", 200],
  ["text", respond("content-type=text/plain&lines=99"), 200],
  ["JSON", respond("content-type=application/json&lines=99"), 200],
  ["JSON for linked data", respond("content-type=application/ld%2Bjson&lines=99"), 200],
  ["a script", respond("content-type=text/javascript; charset=utf-8&lines=99"), 200],
  ["a vector graphic", respond("content-type=image/svg%2Bxml&lines=99"), 200],
  ["an error response of a route", respond("content-type=text/plain&lines=99&status=500"), 500],
  ["text with a length", respond("content-type=text/plain&lines=99&content-length=2765&accept-ranges=bytes"), 200],
] as const)("%s is sent in the preferred coding, with the same content", async ([, path, status], { server }) => {
  const url = server.url + path;
  const plain = await fetchWhole(url);
  expect(plain).toMatchObject({ status, coding: undefined, vary: "Accept-Encoding" });
  for (const [accepted, coding] of [
    ["br", "br"],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", FASTEST],
    ["gzip, deflate, br", "br"],
    ["br, zstd;q=0.9", "br"],
    ["br;q=0.1, gzip;q=0.9", "gzip"],
    ["gzip, br;q=0", "gzip"],
    ["*", FASTEST],
    ["identity", undefined],
    ["br;q=0, gzip;q=0", undefined],
    ["zstd", FASTEST === "zstd" ? "zstd" : undefined],
    ["", undefined],
  ] as const) {
    const whole = await fetchWhole(url, { coding: accepted });
    expect([accepted, whole.status, whole.coding, whole.vary]).toEqual([accepted, status, coding, "Accept-Encoding"]);
    expect(maskNonces(whole.body)).toBe(maskNonces(plain.body));
    if (coding === undefined) continue;
    expect(whole.bytes.length).toBeLessThan(Math.max(plain.bytes.length, 1024));
    expect([undefined, String(whole.bytes.length)]).toContain(whole.headers["content-length"]);
    expect(whole.headers).not.toHaveProperty("accept-ranges");
  }
});

test.for([
  ["an image", respond("content-type=image/png&lines=99"), 200, undefined],
  ["a binary", respond("content-type=application/octet-stream&lines=99"), 200, undefined],
  ["short data of a page", "/example-pages/docs/setup/linux.data", 200, VARY],
  ["text with no-transform", respond("content-type=text/plain&lines=99&cache-control=no-transform"), 200, VARY],
  ["data of a page with no-transform", "/example-pages/recovery-codes.data", 200, VARY],
  ["encoded text", respond("content-type=text/plain&lines=99&content-encoding=own"), 200, VARY],
  ["a partial response", respond("content-type=text/plain&lines=99&status=206&content-range=bytes 0-98/99"), 206, VARY],
  ["a 304 response", respond("status=304&etag=%22a%22"), 304, VARY],
  ["a 204 response", respond("status=204"), 204, undefined],
  ["a short text", respond("content-type=text/plain&lines=9"), 200, VARY],
  ["an empty text", respond("content-type=text/plain"), 200, VARY],
  ["a redirect", "/example-pages/account", 302, undefined],
  ["a file without a compressed form", "/robots.txt", 200, VARY],
] as const)("%s is not compressed", async ([, path, status, vary], { server }) => {
  const plain = await fetchWhole(server.url + path, { coding: "identity" });
  for (const coding of CODINGS) {
    const whole = await fetchWhole(server.url + path, { coding });
    expect([whole.status, whole.coding, whole.vary]).toEqual([status, plain.coding, vary]);
    expect(whole.body).toBe(plain.body);
    expect(whole.etag).toBe(plain.etag);
  }
});

test("a large file is sent in ranges, without a content coding", async ({ server }) => {
  const headers = { Range: "bytes=0-9" };
  const part = await fetchWhole(`${server.url}/film.mp4`, { coding: "br", headers });
  expect(part).toMatchObject({ status: 206, coding: undefined, body: "0123456789" });
});

test("beyond STATIC_FILES_MAX_BYTES, files are sent from disk, as compressed as from memory", async ({ server }) => {
  const small = await startServer({ STATIC_FILES_MAX_BYTES: "1000" }, SITE);
  const [fromDisk, fromMemory] = await Promise.all(
    [small, server].map(({ url }) => fetchWhole(`${url}/licenses.md`, { coding: "br" })),
  );
  expect(fromDisk).toMatchObject({ status: 200, coding: "br", body: fromMemory?.body });
  expect(await readMetric(small, 'server_limit_usage{setting="STATIC_FILES_MAX_BYTES"}')).toBeLessThanOrEqual(1000);
  await small.stop();
});

test.for(CODINGS)(
  "HEAD has the Vary and ETag of GET under %s, but no Content-Encoding or Content-Length",
  async (coding, { server }) => {
    const url = server.url + respond("content-type=text/plain&lines=99&content-length=2765&etag=%22a%22");
    const forGet = await fetchWhole(url, { coding });
    const forHead = await fetchWhole(url, { coding, method: "HEAD" });
    expect(forHead).toMatchObject({ status: 200, coding: undefined, body: "" });
    expect([forHead.vary, forHead.etag]).toEqual([forGet.vary, forGet.etag]);
    expect(forHead.headers).not.toHaveProperty("content-length");
  },
);

test.for([
  ["vary=Cookie", "br", { vary: "Cookie, Accept-Encoding" }],
  ["vary=Cookie", "identity", { vary: "Cookie, Accept-Encoding" }],
  ["vary=accept-encoding", "br", { vary: "accept-encoding" }],
  ["vary=*", "br", { vary: "*" }],
  ["etag=%22a%22", "br", { etag: 'W/"a"' }],
  ["etag=%22a%22", "identity", { etag: '"a"' }],
  ["etag=W/%22a%22", "gzip", { etag: 'W/"a"' }],
] as const)("a response with %s has these headers under %s: %o", async ([query, coding, expected], { server }) => {
  const url = server.url + respond(`content-type=text/plain&lines=99&${query}`);
  expect(await fetchWhole(url, { coding })).toMatchObject(expected);
});

test.for([...CODINGS, "identity"])(
  "a page that is complete at once has its length, under %s",
  async (coding, { server }) => {
    const { headers, bytes } = await fetchWhole(`${server.url}/example-pages/sign-up`, { coding });
    expect(headers).toMatchObject({ "content-length": String(bytes.length) });
    for (const name of ["transfer-encoding", "incremental"]) expect(headers).not.toHaveProperty(name);
  },
);

/** Requests a page. Resolves with an object whose `text` grows while the response is decoded. */
async function read(url: string, coding: Coding) {
  const { response, client } = await send(url, { coding });
  expect(response.headers["content-encoding"]).toBe(coding);
  const read = { text: "", isComplete: false, response, client };
  const decoder = createDecoder[coding]();
  response.on("error", () => {}).pipe(decoder);
  decoder.on("data", (bytes) => {
    read.text += bytes;
  });
  decoder.on("end", () => {
    read.isComplete = true;
  });
  return read;
}

test.for(CODINGS.flatMap((coding) => [coding, `${coding} .data`]))(
  "slow data comes after the page, under %s",
  async (kind, { server }) => {
    const [coding, suffix = ""] = kind.split(" ") as [Coding, string?];
    const page = await read(`${server.url}/example-pages/streamed${suffix}`, coding);
    expect(page.response.headers).toMatchObject({ incremental: "?1", "x-accel-buffering": "no" });
    await expect.poll(() => page.text).toContain(suffix ? "later" : "Soon");
    expect(page.text).not.toContain("Later");
    // The server has the slow data only after this signal, so it sent the page before the data.
    server.child.kill("SIGUSR2");
    await expect.poll(() => page.text).toContain("Later");
    await expect.poll(() => page.isComplete).toBe(true);
  },
);

test.for(["", ".data"])(
  "who leaves after a second without the slow data of a page%s is counted",
  async (suffix, { server }) => {
    const counter = 'requests_abandoned_total{http_route="/example-pages/streamed"}';
    const before = await readMetric(server, counter);
    const page = await read(`${server.url}/example-pages/streamed${suffix}`, "br");
    await expect.poll(() => page.text).toContain(suffix ? "later" : "Soon");
    await setTimeout(1100);
    page.client.destroy();
    await expect.poll(() => readMetric(server, counter)).toBe(before + 1);
  },
);

test("a browser shows a compressed page before its slow data", async ({ browser, server }) => {
  const context = await browser.newContext({ userAgent: USER_AGENT });
  const page = await context.newPage();
  const response = await page.goto(`${server.url}/example-pages/streamed`, { waitUntil: "commit" });
  expect(await response?.headerValue("Content-Encoding")).toBe(FASTEST);
  await page.getByText("Soon").waitFor();
  server.child.kill("SIGUSR2");
  await page.getByText("Later").waitFor();
  await context.close();
});

test("each event is sent at once, uncompressed", async ({ server }) => {
  const { response, client } = await send(`${server.url}/example-pages/ticks`, { coding: "br" });
  expect(response.headers).toMatchObject({ incremental: "?1", "x-accel-buffering": "no" });
  expect(response.headers).not.toHaveProperty("content-encoding");
  let events = "";
  response
    .on("error", () => {})
    .on("data", (bytes) => {
      events += bytes;
    });
  const count = () => events.split("\n\n").length - 1;
  // The stream never ends, so the server sends events before the end.
  await expect.poll(count).toBe(1);
  await expect.poll(count).toBeGreaterThan(1);
  expect(events).toMatch(/^(data: [^\n]+Z\n\n)+$/);
  client.destroy();
});

test("the number of encoders is limited, and a client's encoder is closed when the client disconnects", async () => {
  const server = await startServer({ MAX_ENCODERS: "2" }, SITE);
  /** Opens more streamed pages than may be compressed, and disconnects. Returns the number of compressed pages. */
  const countCompressed = async () => {
    const url = `${server.url}/example-pages/streamed`;
    const opened = await Promise.all(Array.from({ length: 5 }, () => send(url, { coding: "br" })));
    for (const { response } of opened) response.on("error", () => {});
    const compressed = opened.filter(({ response }) => response.headers["content-encoding"] === "br");
    for (const { client } of opened) client.destroy();
    return compressed.length;
  };
  for (let i = 0; i < 3; i++) await expect.poll(countCompressed).toBe(2);
  server.child.kill("SIGKILL");
});

test("renders leave no timer behind", async ({ server }) => {
  const renders = 50;
  for (let i = 0; i < renders; i++) await fetchWhole(`${server.url}/example-pages/sign-up`);
  expect((await readProcessMetrics(server)).timers).toBeLessThan(renders / 2);
});

test.for([...CODINGS, "identity"])("a client of HTTP/1.0 gets the whole page, under %s", async (coding, { server }) => {
  const { url } = server;
  const request = `GET /example-pages/sign-up HTTP/1.0\r\nAccept-Encoding: ${coding}\r\n\r\n`;
  const { responses, isClosed } = await exchange(url, request);
  const { headers, body } = responses[0] as (typeof responses)[0];
  expect([isClosed, headers["transfer-encoding"]]).toEqual([true, undefined]);
  expect(headers["content-encoding"] ?? "identity").toBe(coding);
  const bytes = Buffer.from(body, "latin1");
  const html = decode[coding as Coding]?.(bytes) ?? bytes;
  expect(html.toString()).toMatch(/<\/html>/);
});

test.for([...CODINGS, "identity"])(
  "the log has the number of bytes that are sent, under %s",
  async (coding, { server }) => {
    const requestId = `bytes-${coding}`;
    const { hostname, port } = new URL(server.url);
    const lines = [`Accept-Encoding: ${coding}`, `X-Request-Id: ${requestId}`, "Connection: close", "", ""];
    const socket = connect(Number(port), hostname);
    socket.write(`GET /example-pages/sign-up HTTP/1.1\r\nHost: x\r\n${lines.join("\r\n")}`);
    const { length } = await buffer(socket);
    const logged = () =>
      server.lines.filter((line) => line["http.request.id"] === requestId).map((line) => line["http.response.size"]);
    await expect.poll(logged).toEqual([length]);
  },
);

/** Serves one handler behind the middleware. */
async function serve(handler: RequestHandler) {
  const server = express()
    .use(compression(createLimits({}).MAX_ENCODERS, () => {}))
    .use(handler)
    .listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await vi.waitUntil(() => server.listening);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.for([...CODINGS, "identity"])(
  "a response that its client doesn't read isn't held in memory, with %s",
  async (coding) => {
    const total = 250;
    let made = 0;
    let mostHeld = 0;
    let waiting = 0;
    const url = await serve((req, res, next) => {
      const body = new ReadableStream({
        pull(controller) {
          // Random bytes can't be compressed.
          controller.enqueue(crypto.getRandomValues(new Uint8Array(CHUNK_BYTES)));
          made += 1;
          const { bytesWritten, writableLength } = req.socket;
          mostHeld = Math.max(mostHeld, made - (bytesWritten - writableLength) / CHUNK_BYTES);
          waiting = Math.max(waiting, res.listenerCount("drain"));
          if (made === total) controller.close();
        },
      });
      res.type("text/plain");
      writeReadableStreamToWritable(body, res).catch(next);
    });
    const { response } = await send(url, { coding });
    // The client reads only after the server has stopped writing.
    for (let before = -1; before < made; await setTimeout(200)) before = made;
    const bytes = await buffer(response);
    const body = decode[coding as Coding]?.(bytes) ?? bytes;
    expect([made, body.length]).toEqual([total, total * CHUNK_BYTES]);
    expect(mostHeld).toBeLessThan(8);
    expect(waiting).toBeLessThan(3);
  },
);
