import { rateLimit } from "express-rate-limit";
import {
  createExpress,
  createRequestHandler,
  defineServer,
  isSameOrigin,
  maxBodyBytes,
} from "react-router-express-server";
import { traceRequests } from "react-router-express-server/tracing";
import * as v from "valibot";
import { type WebSocket, WebSocketServer } from "ws";
import { clientContext } from "./app/example-pages/context.ts";
import { sessionsContext } from "./app/example-pages/sign-in/context.ts";
import { createSessions, sessionSettings } from "./app/example-pages/sign-in/sessions.server.ts";
import { createFront, frontSettings } from "./front.ts";

const MAX_SOCKETS = 100;
const MAX_MESSAGE_BYTES = 64 * 1024;
/** Each fragment of a message takes memory besides its bytes. */
const MAX_FRAGMENTS = 64;
/** If more bytes wait for a client, the server stops reading from it. */
const MAX_BUFFERED_BYTES = 64 * 1024;
/** Most proxies close connections that are idle for a minute. */
const PING_INTERVAL_MS = 30_000;
/** RFC 6455 §7.4.1 */
const GOING_AWAY = 1001;
/** Clients that have not responded to the last ping. */
const unresponsive = new WeakSet<WebSocket>();

export default defineServer({
  settings: {
    ...sessionSettings,
    PICTURES_URL: v.optional(v.string()),
    ...frontSettings,
  },
  policySources: { PICTURES_URL: ["img-src"] },
  openServices({ settings, log, shutdown }) {
    const sessions = createSessions(settings);
    const sockets = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_MESSAGE_BYTES,
      maxFragments: MAX_FRAGMENTS,
      allowSynchronousEvents: false, // Requests are handled between the messages of one read.
    });
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
      setContext(context) {
        context.set(sessionsContext, sessions);
      },
      upgrade(req, socket, head) {
        const reject = (status: string) =>
          socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
        // A page of any site may open a WebSocket here, with the user's cookies.
        const isOwn = isSameOrigin(req.headers, settings);
        const { origin, host } = req.headers;
        if (!isOwn) log.info({ origin, host }, "cross-origin WebSocket rejected: if it is yours, set ORIGIN");
        if (!isOwn || req.url !== "/socket") reject("403 Forbidden");
        else if (sockets.clients.size >= MAX_SOCKETS) reject("503 Service Unavailable");
        else sockets.handleUpgrade(req, socket, head, echo);
      },
    };
  },
  createApp({ settings, receive, collectReports, files, pageCache, admit, compress, build, handleErrors, ...parts }) {
    const app = createExpress();
    app.use("/front/large-webhook", maxBodyBytes(300_000));
    app.use("/front/proxy", maxBodyBytes(100_000_000));
    app.use(receive);
    app.post("/browser-reports", collectReports);
    app.use(createFront(settings, admit));
    app.use(files);
    app.use(pageCache);
    app.use(admit);
    app.use(traceRequests);
    // A form has two paths: /example-pages/vote for browsers without scripts, and /example-pages/vote.data.
    app.use(
      rateLimit({
        windowMs: 60_000,
        limit: 3,
        standardHeaders: "draft-8",
        legacyHeaders: false,
        skip: ({ method }, { locals }) => method !== "POST" || locals.httpRoute !== "/example-pages/vote",
      }),
    );
    // Only rendered requests get here.
    app.use((req, res, next) => {
      if (settings.FRONT === "headers") res.set("X-Rendered", "1");
      if (settings.FRONT === "late-url") req.url = `${req.path}?page=2`;
      res.locals.client = req.ip;
      next();
    });
    app.use(compress);
    app.use(
      createRequestHandler({
        build,
        getLoadContext(req, res) {
          const context = parts.getLoadContext(req, res);
          context.set(clientContext, res.locals.client);
          return context;
        },
      }),
    );
    app.use(handleErrors);
    return app;
  },
});

function echo(client: WebSocket) {
  client.on("error", () => {}); // It closes itself. Without a listener, the error would end the process.
  client.on("pong", () => unresponsive.delete(client));
  client.on("message", (data, isBinary) => {
    client.send(data, { binary: isBinary }, () => client.bufferedAmount <= MAX_BUFFERED_BYTES && client.resume());
    if (client.bufferedAmount > MAX_BUFFERED_BYTES) client.pause();
  });
}
