import type { IncomingMessage } from "node:http";
import { expect, test, vi } from "vitest";
import type { Response } from "../server/chain.ts";
import { matchRoute } from "../server/middleware/match-route.ts";

vi.mock("../server/pages/build.ts", () => {
  const splat = { pattern: "/*", methods: ["GET", "HEAD", "POST"] };
  return { routes: [splat], findRoute: () => ({ route: splat, canonicalPath: "/" }) };
});

test.each([
  ["/a/b", undefined],
  ["/a/../b", 404],
  ["/a\\..\\b", 404],
])("for POST %s, next() gets %s: only paths that the URL parser changes get 404", (path, status) => {
  const next = vi.fn();
  const res = { locals: { target: { path, decodedPath: path, query: "" } } };
  matchRoute(new Map())({ method: "POST" } as IncomingMessage, res as Response, next);
  expect(next.mock.lastCall?.[0]?.status).toBe(status);
});
