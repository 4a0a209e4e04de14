import { IncomingMessage, ServerResponse } from "node:http";
import express from "express";
import { isOriginForm, parseRequest } from "./http/request-target.ts";

const MAX_LISTENERS = 20;

/**
 * Creates an Express application at Node's speed. Express replaces the prototype of each request and response, which
 * makes them slow objects: with seven middleware functions, a request takes 77 µs of CPU time on Node 20, and 28 on
 * Node 24. Here a server makes them with these prototypes from the start, and a request takes 22 µs on both. A mounted
 * application still gets prototypes of its own. Needed until Express has it:
 * https://github.com/expressjs/express/issues/5998
 */
export function createExpress(): express.Express {
  const app = express().disable("x-powered-by");
  class Request extends IncomingMessage {
    declare baseUrl: string;
    declare matched: { route: unknown; baseUrl: string } | undefined;
    get route() {
      return this.matched?.route;
    }
    /** Keeps `baseUrl`, which Express restores before it handles an error of the route. */
    set route(route) {
      this.matched = { route, baseUrl: this.baseUrl };
    }
  }
  class Response extends ServerResponse {
    /** Express would set an object without a prototype, which V8 makes a slow one. */
    locals = {};
  }
  // Between a class and Node's, so that both have Express's properties.
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  // A mounted application gets the outer one's prototypes in place of `app.request`, so it needs its settings here.
  Object.assign(Request.prototype, { app });
  Object.assign(Response.prototype, { app });
  // Node warns of more than 10. The server adds up to 7 to "close", and `pipeline` as many.
  Response.prototype.setMaxListeners(MAX_LISTENERS);
  const { handle } = app as unknown as { handle: express.RequestHandler };
  const handleInOriginForm: express.RequestHandler = (req, res, next) => {
    toOriginForm(req);
    handle.call(app, req, res, next);
  };
  return Object.assign(app, {
    request: Request.prototype,
    response: Response.prototype,
    handle: handleInOriginForm,
  });
}

/** The classes that `createServer` makes the requests and responses of an application with. */
export function messageClasses({ request, response }: Pick<express.Express, "request" | "response">) {
  return {
    IncomingMessage: request.constructor as typeof IncomingMessage,
    ServerResponse: response.constructor as typeof ServerResponse,
  };
}

/**
 * In absolute form, a target's host replaces the Host header (RFC 9112 §3.2.2). Express's routers would take the form
 * of the target that they get for the form of all later ones. They parse other forms by Node's deprecated `url.parse`,
 * which writes a warning to standard error, so a malformed target is in `originalUrl` alone: `receive` rejects it.
 */
function toOriginForm(req: IncomingMessage) {
  const { url = "" } = req;
  if (isOriginForm(url)) return;
  const parsed = parseRequest(req);
  if (!parsed) return void Object.assign(req, { url: "/", originalUrl: url });
  req.url = parsed.target.path + parsed.target.query;
  Object.assign(req, { originalUrl: req.url });
  if (parsed.host !== undefined) req.headers.host = parsed.host;
}
