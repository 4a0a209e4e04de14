import type { Request, Response } from "express";
import { expect, test } from "vitest";
import { checkMethod } from "./check-method.ts";

test.each([
  ["/a/b", undefined],
  ["/a/../b", 404],
  ["/a\\..\\b", 404],
])("POST %s: the error is %s: only paths that the URL parser changes get 404", (path, status) => {
  const route = { pattern: "/*", methods: ["GET", "HEAD", "POST"] };
  const res = { locals: { route, target: { path, decodedPath: path, query: "" } } } as unknown as Response;
  expect(checkMethod({ method: "POST" } as Request, res)?.status).toBe(status);
});
