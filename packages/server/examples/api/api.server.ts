import { type ErrorRequestHandler, json, type RequestHandler, Router } from "express";
import { acceptsCrossOrigin } from "react-router-express-server";

/** The sites whose scripts may call the API. */
const ORIGINS = new Set(["https://app.example.org"]);

type Item = { id: string; name: string };

type Parts = { admit: RequestHandler; compress: RequestHandler };

/** Other sites may call it, so it must not trust cookies: read a key or a token from `Authorization`. */
export function createApi({ admit, compress }: Parts) {
  const items = new Map<string, Item>([["1", { id: "1", name: "Lamp" }]]); // Yours: a database.
  const api = Router();
  // In the router, so that the errors of `admit` are JSON, too.
  api.use(acceptsCrossOrigin, admit, allowOrigins, compress, json());

  api
    .route("/items")
    .get((_req, res) => void res.json([...items.values()]))
    .all(rejectMethod("GET, HEAD"));

  api
    .route("/items/:id")
    .get(({ params }, res) => {
      const item = items.get(params.id);
      if (item) res.json(item);
      else res.status(404).json({ error: "not found" });
    })
    .put(({ params, body }, res) => {
      if (typeof body?.name !== "string") return void res.status(422).json({ error: "name must be a string" });
      const item = { id: params.id, name: body.name };
      items.set(item.id, item);
      res.json(item);
    })
    .all(rejectMethod("GET, HEAD, PUT"));

  // Without this, unknown paths would go on to the pages.
  api.use((_req, res) => void res.status(404).json({ error: "not found" }));
  api.use(sendErrors);
  return api;
}

/** CORS: https://developer.mozilla.org/docs/Web/HTTP/Guides/CORS */
const allowOrigins: RequestHandler = (req, res, next) => {
  res.vary("Origin");
  const { origin } = req.headers;
  if (origin === undefined || !ORIGINS.has(origin)) return next();
  res.set("Access-Control-Allow-Origin", origin);
  if (req.method !== "OPTIONS") return next();
  res.set({
    "Access-Control-Allow-Methods": "GET, HEAD, PUT",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
  });
  res.sendStatus(204);
};

const rejectMethod =
  (allowed: string): RequestHandler =>
  (_req, res) =>
    void res.set("Allow", allowed).status(405).json({ error: "method not allowed" });

/** Sends errors of clients as JSON, such as malformed bodies. The server logs the others. */
const sendErrors: ErrorRequestHandler = (error, _req, res, next) => {
  if (!error.expose) return next(error);
  res.status(error.status).json({ error: error.message });
};
