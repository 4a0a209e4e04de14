import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { RequestTarget } from "../http/request-target.ts";
import type { RouteEntry } from "../pages/route-table.ts";

declare global {
  namespace Express {
    /** What the middleware has found out about a request. */
    interface Locals {
      requestId: string;
      target: RequestTarget;
      /** The route whose page or data is asked for; none for a file. */
      route: RouteEntry | undefined;
      /** What log and metrics call the route. */
      routeId: string;
      /** The nonce of the inline elements of a page that is rendered for this request. */
      nonce?: string;
    }
  }
}

export type Response = ServerResponse & { locals: Express.Locals };

/** Express's signature on Node's own request and response. */
export type Middleware = (req: IncomingMessage, res: Response, next: () => void) => void;

/** Runs middleware in order, and then a request listener, unless one of them has sent the response. */
export function chain(middleware: Middleware[], listener: RequestListener): RequestListener {
  return (req, res) => {
    const response = Object.assign(res, { locals: {} as Express.Locals });
    const run = (index: number) => {
      const current = middleware[index];
      if (current) current(req, response, () => run(index + 1));
      else listener(req, res);
    };
    run(0);
  };
}
