// Examples of what a team mounts in front of the files. FRONT switches on those that apply to every request.
import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import { initTRPC } from "@trpc/server";
import { createExpressMiddleware } from "@trpc/server/adapters/express";
import cookieSession from "cookie-session";
import express, {
  type ErrorRequestHandler,
  json,
  type Request as Req,
  type RequestHandler,
  type Response as Res,
  Router,
  raw,
} from "express";
import expressSession from "express-session";
import helmet from "helmet";
import createHttpError from "http-errors";
import { acceptsCrossOrigin } from "react-router-express-server";
import * as v from "valibot";

const CREDENTIALS = `Basic ${btoa("ada:secret")}`;

/** Sessions in memory. The package's own store warns in production. */
class Store extends expressSession.Store {
  sessions = new Map<string, expressSession.SessionData>();
  get: expressSession.Store["get"] = (id, callback) => callback(null, this.sessions.get(id));
  set: expressSession.Store["set"] = (id, session, callback) => callback?.(void this.sessions.set(id, session));
  destroy: expressSession.Store["destroy"] = (id, callback) => callback?.(void this.sessions.delete(id));
}

const signedSession = cookieSession({ name: "session", keys: ["key"] });

const FRONTS = {
  "basic-auth": ({ headers }, _res, next) =>
    next(
      headers.authorization === CREDENTIALS
        ? undefined
        : createHttpError(401, { headers: { "WWW-Authenticate": 'Basic realm="site"' } }),
    ),
  maintenance: (_req, _res, next) => next(createHttpError(503, { expose: true, headers: { "Retry-After": "120" } })),
  headers: (_req, res, next) => {
    res.set({ "X-Frame-Options": "SAMEORIGIN", "X-Variant": "b" }).vary("X-Experiment");
    next();
  },
  cookie: (_req, res, next) => {
    res.cookie("variant", "b");
    next();
  },
  "appended-cookie": (_req, res, next) => {
    res.append("Set-Cookie", "variant=b");
    next();
  },
  "express-session": expressSession({ secret: "key", resave: false, saveUninitialized: true, store: new Store() }),
  "cookie-session": (req, res, next) =>
    signedSession(req, res, () => {
      Object.assign(req.session ?? {}, { visitor: randomUUID() });
      next();
    }),
  helmet: helmet(),
  apex: (req, res, next) => {
    if (!req.hostname?.startsWith("www.")) return next();
    res.redirect(301, `https://${req.hostname.slice("www.".length)}${req.originalUrl}`);
  },
  "changed-url": (req, _res, next) => {
    const url = new URL(req.url, "http://localhost");
    url.searchParams.set("page", "2");
    req.url = url.pathname.replace(/^\/de\//, "/") + url.search;
    next();
  },
  "changed-header": (req, _res, next) => {
    req.headers["accept-language"] = String(req.query.lang);
    next();
  },
  "late-url": (_req, _res, next) => next(),
  none: (_req, _res, next) => next(),
} satisfies Record<string, RequestHandler>;

export const frontSettings = {
  FRONT: v.optional(v.picklist(Object.keys(FRONTS) as (keyof typeof FRONTS)[]), "none"),
  UPSTREAM: v.optional(v.string(), "http://127.0.0.1"),
};

type Settings = v.InferOutput<v.ObjectSchema<typeof frontSettings, undefined>>;

export function createFront({ FRONT, UPSTREAM }: Settings, admit: RequestHandler) {
  const front = Router();
  front.use(FRONTS[FRONT]);
  front.get("/front/cookie-in-head", admit, ({ query }, res) => {
    const cacheControl = "public, s-maxage=60";
    const headers = {
      "Set-Cookie": "variant=b",
      "Cache-Control": cacheControl,
      "CDN-Cache-Control": cacheControl,
      "Cloudflare-CDN-Cache-Control": cacheControl,
      "Surrogate-Control": "max-age=60",
    };
    res.writeHead(200, "flat" in query ? Object.entries(headers).flat() : headers).end();
  });
  front.get("/front/old/*splat", admit, (req, res) => res.redirect(301, req.originalUrl.replace("/old/", "/new/")));
  front.use("/front/api", admit, createApi());
  front.use("/front/tenants/:tenant", admit, () => {}); // It never responds.
  front.post(
    ["/front/webhook", "/front/large-webhook"],
    admit,
    raw({ type: () => true, limit: Infinity }),
    (req, res) => {
      res.json({ bytes: req.body.length });
    },
  );
  front.post("/front/open", acceptsCrossOrigin, admit, (_req, res) => void res.json({ isOpen: true }));
  front.get("/front/wait/:milliseconds", admit, async ({ params }, res) => {
    await setTimeout(Number(params.milliseconds));
    res.json(params);
  });
  front.get("/front/ticks", admit, sendTicks);
  front.use("/front/files", admit, express.static("client"));
  front.all("/front/auth/*splat", admit, toExpress(handleAuth));
  front.use("/front/trpc", admit, createExpressMiddleware({ router: createProcedures() }));
  front.use("/front/proxy", admit, createProxy(UPSTREAM));
  return front;
}

/** Sends the time each second, until the client disconnects. */
const sendTicks: RequestHandler = (_req, res) => {
  res.type("text/event-stream");
  const send = () => res.write(`data: ${new Date().toISOString()}\n\n`);
  send();
  const timer = setInterval(send, 1000);
  res.once("close", () => clearInterval(timer));
};

function createApi() {
  const api = Router();
  api.use(json());
  api
    .route("/items/:id")
    .get(({ params }, res) => void res.json({ id: params.id }))
    .put(({ params, body }, res) => void res.json({ id: params.id, ...body }))
    .all((_req, res) => void res.set("Allow", "GET, HEAD, PUT").status(405).json({ error: "method not allowed" }));
  api.get("/hangs", () => {});
  api.get("/throws", (_req, res) => {
    res.type("json").cookie("half", "done");
    throw new Error("broken");
  });
  api.get("/writes-late", (_req, res) => {
    res.end("done");
    for (const text of ["more", "and more"]) res.write(text);
  });
  api.get("/throws-late", (_req, res) => {
    res.end("done");
    throw new Error("broken after the response");
  });
  api.get("/rejects", () => Promise.reject(new Error("broken")));
  api.use((_req, res) => void res.status(404).json({ error: "not found" }));
  api.use(sendErrors);
  return api;
}

/** Sends errors of clients as JSON. The server's handler sends and logs the others. */
const sendErrors: ErrorRequestHandler = (error, _req, res, next) => {
  if (!error.expose) return next(error);
  res.status(error.status).json({ error: error.message });
};

/** A handler of Fetch's Request, as authentication libraries have. */
async function handleAuth(request: Request) {
  const user = new URLSearchParams(await request.text()).get("user");
  if (user === null) return Response.json({ cookie: request.headers.get("Cookie"), url: request.url });
  const headers = new Headers({ Location: "/" });
  headers.append("Set-Cookie", `session=${user}; HttpOnly`);
  headers.append("Set-Cookie", "hint=1");
  return new Response(null, { status: 303, headers });
}

const toExpress = (handle: (request: Request) => Promise<Response>) => async (req: Req, res: Res) => {
  const { method, originalUrl, protocol } = req;
  const isRead = method === "GET" || method === "HEAD";
  const request = new Request(new URL(originalUrl, `${protocol}://${req.headers.host}`), {
    method,
    headers: new Headers(req.headers as Record<string, string>),
    ...(!isRead && { body: Readable.toWeb(req) as ReadableStream, duplex: "half" }),
  });
  const { status, headers, body } = await handle(request);
  res.status(status).setHeaders(headers);
  if (body) await pipeline(Readable.fromWeb(body as never), res);
  else res.end();
};

function createProcedures() {
  const { procedure, router } = initTRPC.create();
  return router({
    greet: procedure.input(v.string()).query(({ input }) => `Hello ${input}`),
    add: procedure.input(v.array(v.number())).mutation(({ input }) => input.reduce((sum, next) => sum + next, 0)),
  });
}

/** Streams a request to another server, and its response back. */
const createProxy =
  (origin: string): RequestHandler =>
  (req, res, next) => {
    const { method, headers } = req;
    const upstream = request(origin + req.url, { method, headers }, (response) => {
      const { connection, "transfer-encoding": framing, ...sent } = response.headers; // RFC 9110 §7.6.1
      res.status(response.statusCode ?? 502).set(sent);
      res.flushHeaders();
      pipeline(response, res).catch(() => {});
    });
    pipeline(req, upstream).catch((error) => next(createHttpError(502, error)));
    res.once("close", () => upstream.destroy());
  };
