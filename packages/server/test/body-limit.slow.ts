// How much a client may send: counted before any page reads it.

import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createReadableStreamFromReadable } from "@react-router/node";
import express, { type ErrorRequestHandler } from "express";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bodyLimit } from "../src/overload/body-limit.ts";
import { exchange } from "./support/exchange.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const KB = 1024;
const MB = 1024 * KB;
const URLENCODED = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data; boundary=b";

/** The folder of uploads. */
const UPLOADS = mkdtempSync(join(tmpdir(), "greeting-uploads-"));

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ TMPDIR: UPLOADS }, SITE);
});

afterAll(async () => {
  await server.stop();
  rmSync(UPLOADS, { recursive: true });
});

const sendStatus: ErrorRequestHandler = (error, _req, res, _next) => void res.writeHead(error.status).end();

const multipart = (bytes: number) =>
  `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${"a".repeat(bytes)}\r\n--b--\r\n`;

const HEAD = ["Host: localhost", "Connection: close"];

/** The status of a POST of the body, with its length or in chunks. */
async function post(path: string, type: string, body: string, isChunked: boolean) {
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
  const chunks = isChunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  const lines = [`POST ${path} HTTP/1.1`, ...HEAD, `Content-Type: ${type}`, framing, "", ""];
  const { responses } = await exchange(server.url, lines.join("\r\n") + chunks);
  return responses.map(({ status, headers }) => [status, headers.connection]);
}

test.each([
  ["a form of 90 KB", "/example-pages/echo", URLENCODED, `a=${"b".repeat(90 * KB)}`, 200],
  ["a form of 101 KB", "/example-pages/echo", URLENCODED, `a=${"b".repeat(101 * KB)}`, 413],
  ["a form of 101 KB for a page", "/example-pages/sign-up", URLENCODED, `a=${"b".repeat(101 * KB)}`, 413],
  ["a form of 101 KB for a page's data", "/example-pages/sign-up.data", URLENCODED, `a=${"b".repeat(101 * KB)}`, 413],
  [
    "a form of 101 KB that has another type, too",
    "/example-pages/echo",
    `text/plain, ${URLENCODED}`,
    "a".repeat(101 * KB),
    413,
  ],
  ["100 KB of names without a value", "/example-pages/echo", URLENCODED, "a&".repeat(50 * KB), 200],
  ["a multipart form of 900 KB", "/example-pages/echo", MULTIPART, multipart(900 * KB), 200],
  ["a multipart form of 1.1 MB", "/example-pages/echo", MULTIPART, multipart(1.1 * MB), 413],
  [
    "JSON that has another type, too",
    "/example-pages/echo",
    `${MULTIPART}, application/json`,
    "1".repeat(101 * KB),
    413,
  ],
  ["90 KB of JSON", "/example-pages/echo", "application/json", `"${"a".repeat(90 * KB)}"`, 200],
  ["101 KB of JSON", "/example-pages/echo", "application/json", `"${"a".repeat(101 * KB)}"`, 413],
  [
    "a form of 101 KB for a route that accepts 4 MB",
    "/example-pages/large-form",
    URLENCODED,
    "a".repeat(101 * KB),
    413,
  ],
  ["3 MB for a route that accepts 4 MB", "/example-pages/large-form", "text/plain", "a".repeat(3 * MB), 200],
  ["4.1 MB for a route that accepts 4 MB", "/example-pages/large-form", "text/plain", "a".repeat(4.1 * MB), 413],
])("%s, by its length and in chunks, for %s", async (_label, path, type, body, status) => {
  for (const isChunked of [false, true]) {
    expect([isChunked, await post(path, type, body, isChunked)]).toEqual([isChunked, [[status, "close"]]]);
  }
});

test.each([
  ["no boundary", "multipart/form-data", "abc"],
  ["a boundary that never comes", MULTIPART, "abc"],
  ["a part without a name", MULTIPART, "--b\r\n\r\nabc\r\n--b--\r\n"],
  ["no form", "text/plain", "{}"],
])("a malformed form is the client's fault: %s", async (_label, type, body) => {
  for (const path of ["/example-pages/echo", "/example-pages/sign-up", "/example-pages/sign-up.data"]) {
    expect([path, await post(path, type, body, false)]).toEqual([path, [[400, "close"]]]);
  }
  expect(server.lines.filter(({ level }) => level !== "info")).toEqual([]);
});

test.each([
  ["null", 200],
  ["{", 400],
  ["", 400],
])("the JSON body %j gets %d", async (body, status) => {
  expect(await post("/example-pages/echo", "application/json", body, false)).toEqual([[status, "close"]]);
  expect(server.lines.filter(({ level }) => level !== "info")).toEqual([]);
});

test.each([
  ["is written to disk", '; filename="a"\r\n\r\nabc\r\n--b--\r\n', 200],
  ["that is cut short is the client's fault", '; filename="a"\r\n\r\nabc', 400],
  ["that is no file is the client's fault", "\r\n\r\nabc\r\n--b--\r\n", 400],
])("an upload %s", async (_label, rest, status) => {
  const body = `--b\r\nContent-Disposition: form-data; name="file"${rest}`;
  expect(await post("/example-pages/upload", MULTIPART, body, true)).toEqual([[status, "close"]]);
  expect(readdirSync(UPLOADS)).toEqual([]);
});

test("an upload that its client aborts leaves no file", async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = [
    "POST /example-pages/upload HTTP/1.1",
    ...HEAD,
    `Content-Type: ${MULTIPART}`,
    "Content-Length: 900000",
    "",
    "",
  ];
  socket.write(`${head.join("\r\n")}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc`);
  await expect.poll(() => readdirSync(UPLOADS)).toHaveLength(1);
  socket.destroy();
  await expect.poll(() => readdirSync(UPLOADS)).toEqual([]);
  expect((await fetch(server.url)).status).toBe(200);
});

test("an action that reads a body over the limit gets an error, not a part of it", async () => {
  const read: string[] = [];
  const app = express()
    .use(bodyLimit(10, sendStatus))
    .use(async (req, res) => {
      const body = new Response(createReadableStreamFromReadable(req));
      read.push(await body.text().catch(({ status }) => `rejected: ${status}`));
      res.end();
    });
  const listening = app.listen(0, "127.0.0.1");
  onTestFinished(() => void listening.close());
  await once(listening, "listening");
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const chunked = { method: "POST", body: new Blob(["a".repeat(11)]).stream(), duplex: "half" };
  const { status } = await fetch(url, chunked);
  expect(status).toBe(413);
  await expect.poll(() => read).toEqual(["rejected: 413"]);
});

test.each([
  ["a cached page", "GET /", 200],
  ["a page without an action", "PUT /", 405],
  ["a report that isn't read", "POST /browser-reports", 415],
])("the connection of an endless body is closed after the response: %s", async (_label, line, status) => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname).setEncoding("latin1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  let response = "";
  socket.on("data", (text) => {
    response += text;
  });
  const chunk = `10000\r\n${"a".repeat(0x10000)}\r\n`;
  const write = () => {
    if (socket.writable) socket.write(chunk, write);
  };
  // The rest comes after the response: otherwise 413 may be first.
  socket.once("data", write);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
  await closed;
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test("after an error, a connection that is to be closed stays open until the body has ended", async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname).setEncoding("latin1");
  const head = [
    "POST /example-pages/echo HTTP/1.1",
    ...HEAD,
    "Sec-Fetch-Site: cross-site",
    "Content-Length: 2",
    "",
    "",
  ];
  socket.write(`${head.join("\r\n")}a`);
  expect((await once(socket, "data"))[0]).toMatch(/^HTTP\/1.1 403 /);
  await setTimeout(200);
  expect(socket.readableEnded).toBe(false);
  const closed = once(socket, "close");
  socket.resume().write("b");
  await closed;
});

test("the limit is a setting", async () => {
  const strict = await startServer({ BODY_SIZE_LIMIT_BYTES: "10" }, SITE);
  const statusOf = (body: string) =>
    fetch(`${strict.url}/example-pages/echo`, { method: "POST", body: new URLSearchParams(body) });
  expect((await statusOf("a=12345678")).status).toBe(200);
  expect((await statusOf("a=123456789")).status).toBe(413);
  // The body arrives with the head.
  const chunked = `POST /example-pages/echo HTTP/1.1\r\n${HEAD.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { responses } = await exchange(strict.url, `${chunked}b\r\na=123456789\r\n0\r\n\r\n`);
  expect(responses.map(({ status }) => status)).toEqual([413]);
  await strict.stop();
});

test("a body over the limit gets one 413, and no error is logged, although its page's loader continues", async () => {
  const strict = await startServer({ BODY_SIZE_LIMIT_BYTES: "10" }, SITE);
  const { hostname, port } = new URL(strict.url);
  const socket = connect(Number(port), hostname).setEncoding("latin1");
  let response = "";
  socket.on("data", (text) => {
    response += text;
  });
  const closed = once(socket, "close");
  socket.write(`GET /example-pages/wait/500 HTTP/1.1\r\n${HEAD.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  await setTimeout(100);
  socket.write(`b\r\n${"a".repeat(11)}\r\n`);
  await setTimeout(1000); // Meanwhile the page is rendered.
  socket.write("0\r\n\r\n");
  await closed;
  expect(response.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 413"]);
  expect(await strict.stop()).toBe(0);
  const [line] = strict.lines.filter(({ msg }) => msg === "request");
  expect(line).toMatchObject({ "http.response.status_code": 413 });
  expect(strict.lines.filter(({ level }) => level === "error")).toEqual([]);
});

test.each([
  ["a body within the limit reaches a route whole, although a middleware awaits before it", 10_000, "200", "10000"],
  ["a body over the limit is rejected while a middleware awaits", 20_001, "413", undefined],
])("%s", async (_label, bytes, status, received) => {
  const app = express();
  app.use(bodyLimit(20_000, sendStatus));
  app.use(async (_req, _res, next) => {
    await setTimeout(200);
    next();
  });
  app.use(async (req, res) => {
    if (res.headersSent) return;
    const body = await new Response(createReadableStreamFromReadable(req)).arrayBuffer();
    res.end(String(body.byteLength));
  });
  const listening = app.listen(0);
  onTestFinished(() => void listening.close());
  const { port } = listening.address() as AddressInfo;
  const socket = connect(port).setEncoding("utf8");
  const closed = once(socket, "close");
  let response = "";
  socket.on("data", (text) => {
    response += text;
  });
  socket.write(`POST / HTTP/1.1\r\n${HEAD.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  for (const size of [bytes / 2, bytes / 2].map(Math.ceil)) {
    socket.write(`${size.toString(16)}\r\n${"a".repeat(size)}\r\n`);
    await setTimeout(20);
  }
  socket.write("0\r\n\r\n");
  await closed;
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  if (received !== undefined) expect(response).toContain(`\r\n\r\n${received}`);
});
