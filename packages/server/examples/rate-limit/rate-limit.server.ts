import type { RequestHandler } from "express";
import { rateLimit } from "express-rate-limit";

const OPTIONS = {
  windowMs: 60_000,
  standardHeaders: "draft-8" as const,
  legacyHeaders: false,
  message: "Too many requests. Please try again in a minute.\n",
};

/** Limits the requests of each address to a handler of your own, by minute. */
export const limitRequests = (limit: number): RequestHandler => rateLimit({ ...OPTIONS, limit });

/** Limits how many forms each address sends to these pages together, by minute. */
export const limitForms = (routes: string[], limit: number): RequestHandler =>
  rateLimit({
    ...OPTIONS,
    limit,
    // The route is the same for `/sign-in` and for `/sign-in.data`, which scripts send. A path in `app.use` misses one.
    skip: ({ method }, { locals }) => method !== "POST" || !routes.includes(locals.httpRoute ?? ""),
  });
