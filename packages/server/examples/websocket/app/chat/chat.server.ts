import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { isSameOrigin } from "react-router-express-server";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { MAX_LENGTH, MAX_MESSAGES, type Message, SOCKET_PATH } from "./message.ts";

const MAX_SOCKETS = 200;
/** A character has up to 4 bytes. */
const MAX_MESSAGE_BYTES = 4 * MAX_LENGTH;
/** Each fragment of a message takes memory besides its bytes. */
const MAX_FRAGMENTS = 16;
/** After each message, the server reads nothing from this client for a while. */
const PAUSE_MS = 200;
/** A client that doesn't read is dropped, so that what waits for it doesn't fill the memory. */
const MAX_BUFFERED_BYTES = 64 * 1024;
/** Most proxies close connections that are idle for a minute. */
const PING_INTERVAL_MS = 30_000;
/** RFC 6455 §7.4.1. The browser connects again, to the next process. */
const GOING_AWAY = 1001;

type Options = { settings: Parameters<typeof isSameOrigin>[1]; shutdown: AbortSignal };

/** Sends each message to all who have the page open. Each process has its own messages and clients. */
export function createChat({ settings, shutdown }: Options) {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
    allowSynchronousEvents: false, // Requests are handled between the messages of one read.
  });
  const messages: Message[] = [];
  const unresponsive = new WeakSet<WebSocket>();

  function send(client: WebSocket, message: Message) {
    if (client.bufferedAmount > MAX_BUFFERED_BYTES) client.terminate();
    else client.send(JSON.stringify(message));
  }

  function receive(client: WebSocket, data: RawData) {
    client.pause();
    setTimeout(() => client.resume(), PAUSE_MS);
    const text = data.toString().trim().slice(0, MAX_LENGTH);
    if (text === "") return;
    const message = { id: randomUUID(), time: new Date().toISOString(), text };
    messages.push(message);
    messages.splice(0, messages.length - MAX_MESSAGES);
    for (const other of sockets.clients) send(other, message);
  }

  function open(client: WebSocket) {
    client.on("error", () => {}); // It closes itself. Without a listener, the error would end the process.
    client.on("pong", () => unresponsive.delete(client));
    client.on("message", (data) => receive(client, data));
    for (const message of messages) send(client, message);
  }

  const pings = setInterval(() => {
    for (const client of sockets.clients) {
      if (unresponsive.has(client)) client.terminate();
      else client.ping();
      unresponsive.add(client);
    }
  }, PING_INTERVAL_MS);
  shutdown.addEventListener("abort", () => {
    clearInterval(pings);
    for (const client of sockets.clients) client.close(GOING_AWAY);
  });

  return {
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer) {
      const reject = (status: string) =>
        socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
      // A page of any site may open a WebSocket here, with the user's cookies.
      if (!isSameOrigin(req.headers, settings)) reject("403 Forbidden");
      else if (req.url !== SOCKET_PATH) reject("404 Not Found");
      else if (sockets.clients.size >= MAX_SOCKETS) reject("503 Service Unavailable");
      else sockets.handleUpgrade(req, socket, head, open);
    },
  };
}
