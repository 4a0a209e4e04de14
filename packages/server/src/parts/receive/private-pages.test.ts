import type { RequestListener } from "node:http";
import { pino } from "pino";
import request from "supertest";
import { expect, test } from "vitest";
import { createExpress } from "../../express.ts";
import type { RouteEntry } from "../../locals.ts";
import { createSecurityHeaders } from "../../site/security-headers.ts";
import { defaultHeaders } from "./default-headers.ts";

const PUBLIC = "public, s-maxage=60";
const CACHEABLE = { cacheRule: {}, addedHeaders: {}, methods: ["GET"] } as unknown as RouteEntry;
const complete = defaultHeaders(createSecurityHeaders("max-age=1", { isProduction: true }), pino({ enabled: false }));

type Given = { setsCookie?: boolean; signedIn?: boolean; [field: string]: unknown };

test.each<[string, Given, string, string]>([
  [
    "a cacheable page that React Router renders for one client",
    { ended: Promise.resolve() },
    PUBLIC,
    "private, no-cache",
  ],
  ["a response of another handler", {}, PUBLIC, PUBLIC],
  [
    "a cacheable page that React Router renders, with a cookie",
    { ended: Promise.resolve(), nonce: "a", setsCookie: true },
    PUBLIC,
    "private, no-store",
  ],
  ["a response of another handler that sets a cookie", { setsCookie: true }, PUBLIC, "private, no-cache"],
  ["a response of another handler to a user who has signed in", { signedIn: true }, PUBLIC, "private, no-cache"],
  ["the error in place of a cacheable page", { ended: Promise.resolve(), errorStatus: 503 }, "no-store", "no-store"],
])("%s has the right Cache-Control", async (_label, { setsCookie, signedIn, ...locals }: Given, set, sent) => {
  const app = createExpress().use((req, res) => {
    Object.assign(res.locals, { route: CACHEABLE, requestId: "1", ...locals });
    complete(req, res);
    if (setsCookie) res.cookie("a", "b");
    res.writeHead(200, { "Cache-Control": set }).end();
  });
  const response = await request(app as RequestListener)
    .get("/")
    .set(signedIn ? { Authorization: "Basic YTpi" } : {});
  expect(response.headers["cache-control"]).toBe(sent);
});
