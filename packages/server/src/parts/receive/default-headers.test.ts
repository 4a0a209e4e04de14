import type { RequestListener } from "node:http";
import { pino } from "pino";
import request from "supertest";
import { expect, test } from "vitest";
import { createExpress } from "../../express.ts";
import type { SecurityHeaders } from "../../site/security-headers.ts";
import { defaultHeaders } from "./default-headers.ts";

const CDN = { "CDN-Cache-Control": "max-age=60", "Surrogate-Control": "max-age=60" };

test.each([
  ["has none without Cache-Control, since it may have a user's data", true, {}, "private, no-cache", undefined],
  ["keeps its own beside a Cache-Control", true, { "Cache-Control": "no-cache" }, "no-cache", "max-age=60"],
  ["of an own handler keeps its own", false, {}, "private, no-cache", "max-age=60"],
])("of lifetimes for shared caches, a response %s", async (_label, isRendered, sent, cacheControl, lifetime) => {
  const securityHeaders = { defaults: {} } as SecurityHeaders;
  const setDefaults = defaultHeaders(securityHeaders, pino({ enabled: false }));
  const app = createExpress().use((req, res) => {
    if (isRendered) res.locals.ended = Promise.resolve();
    res.locals.requestId = "1";
    setDefaults(req, res);
    res.set({ ...CDN, ...sent }).end();
  });
  const { headers } = await request(app as RequestListener).get("/");
  expect([headers["cache-control"], headers["cdn-cache-control"], headers["surrogate-control"]]).toEqual([
    cacheControl,
    lifetime,
    lifetime,
  ]);
});
