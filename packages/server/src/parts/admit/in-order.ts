import type { RequestHandler } from "express";

/** One handler that runs others in order, as Express does. With an array, TypeScript infers no types in `app.get`. */
export function inOrder(...handlers: RequestHandler[]): RequestHandler {
  return handlers.reduceRight((rest, handler) => (req, res, next) => {
    handler(req, res, (error) => (error ? next(error) : rest(req, res, next)));
  });
}
