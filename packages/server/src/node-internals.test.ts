// If Node changes these, the functions of node-internals.ts need another way.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  closeListener,
  countSent,
  filterBody,
  onAssigned,
  releaseConnection,
  releaseResponse,
  stopParsing,
} from "./node-internals.ts";

/** Sends bytes to a server, and returns the client's socket and the first request. */
async function send(bytes: string, onRequest: (req: IncomingMessage, res: ServerResponse) => void) {
  const server = createServer(onRequest).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write(bytes);
  const [req] = (await once(server, "request")) as [IncomingMessage];
  return { client, req };
}

const CHUNKED = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

test("of an unfinished write, only the sent bytes are counted", async () => {
  const large = Buffer.alloc(50e6);
  const { client, req } = await send("GET / HTTP/1.1\r\nHost: a\r\n\r\n", (_req, res) => res.end(large));
  client.pause();
  await setTimeout(100);
  const sent = countSent(req.socket);
  expect([sent > 10_000, sent < 40e6, req.socket.bytesWritten > 49e6]).toEqual([true, true, true]);
  client.resume();
  await expect.poll(() => countSent(req.socket)).toBeGreaterThan(sent);
});

test("no request of a connection is created after its parsing stops", async () => {
  const paths: string[] = [];
  await send("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100), (req) => {
    if (paths.push(req.url ?? "") === 3) stopParsing(req.socket);
  });
  await setTimeout(50);
  expect(paths).toHaveLength(3);
});

test.each([
  ["that is read", (req: IncomingMessage) => void req.resume()],
  ["that isn't read, after the response", (_req: IncomingMessage, res: ServerResponse) => void res.end()],
])("each chunk of a body %s is seen, and its end", async (_label, handle) => {
  const seen: string[] = [];
  await send(CHUNKED, (req, res) => {
    filterBody(req, (chunk) => seen.push(String(chunk)) > 0);
    handle(req, res);
  }).then(({ client }) => client.write("1\r\na\r\n1\r\nb\r\n0\r\n\r\n"));
  await expect.poll(() => seen).toEqual(["a", "b", "null"]);
});

test("a chunk that isn't accepted doesn't reach the reader", async () => {
  const read: string[] = [];
  let hasEnded = false;
  const { client } = await send(CHUNKED, (req) => {
    filterBody(req, (chunk) => String(chunk) !== "b");
    req
      .on("data", (chunk) => read.push(String(chunk)))
      .on("end", () => {
        hasEnded = true;
      });
  });
  client.write("1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n");
  await expect.poll(() => hasEnded).toBe(true);
  expect(read).toEqual(["a", "c"]);
});

test("a pipelined response is assigned when the one before it has ended", async () => {
  const assigned: string[] = [];
  const responses: ServerResponse[] = [];
  const { client } = await send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n", (req, res) => {
    responses.push(res);
    onAssigned(res, () => assigned.push(req.url ?? ""));
  });
  await expect.poll(() => responses).toHaveLength(2);
  expect(assigned).toEqual(["/1"]);
  responses[0]?.end();
  await expect.poll(() => assigned).toEqual(["/1", "/2"]);
  responses[1]?.end();
  await once(client, "data");
});

test("an idle connection is served after its listener has closed", async () => {
  const { client, req } = await send("GET / HTTP/1.1\r\nHost: a\r\n\r\n", (_req, res) => void res.end());
  await once(client, "data");
  closeListener((req.socket as unknown as { server: Server }).server);
  client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(String(await once(client, "data"))).toMatch(/^HTTP\/1\.1 200/);
});

test.each(["close", "data", "drain", "end"])(
  "of the listeners for %j, a closed connection keeps the site's, and none that keeps its requests",
  async (event) => {
    const listener = () => {};
    const { req } = await send("GET / HTTP/1.1\r\nHost: a\r\n\r\n", (_req, res) => void res.end());
    const socket = req.socket.on(event, listener);
    socket.destroy();
    await once(socket, "close");
    releaseConnection(socket);
    const listeners = socket.listeners(event);
    expect(listeners).toContain(listener);
    expect(listeners.filter(({ name }) => name.startsWith("bound "))).toEqual([]);
  },
);

test("a closed response keeps the site's listeners for its end, and none that keeps its request", async () => {
  const listener = () => {};
  const { req } = await send("GET / HTTP/1.1\r\nHost: a\r\n\r\n", (_req, res) => void res.on("finish", listener));
  const { _httpMessage: res } = req.socket as unknown as { _httpMessage: ServerResponse };
  req.socket.destroy();
  await once(res, "close");
  releaseResponse(res);
  const listeners = res.listeners("finish");
  expect(listeners).toContain(listener);
  expect(listeners.filter(({ name }) => name.startsWith("bound "))).toEqual([]);
});
