import type { RequestHandler } from "express";
import { checkReceived } from "../check-received.ts";

type Steps = { takeSlot: RequestHandler; setOrigin: RequestHandler; checkOrigin: RequestHandler };

/**
 * Admits a request: a slot (overload/hold-slot.ts) or 503 (overload/slot-queue.ts), then the origin of its URL, then 403
 * for a form of another site.
 */
export function admit({ takeSlot, setOrigin, checkOrigin }: Steps): RequestHandler {
  // One function, since TypeScript doesn't infer the parameters of a handler behind an array.
  return (req, res, next) => {
    checkReceived(res, "admit");
    takeSlot(req, res, (error) => (error ? next(error) : setOrigin(req, res, () => checkOrigin(req, res, next))));
  };
}
