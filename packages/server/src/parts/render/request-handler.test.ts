import type { Request, Response } from "express";
import type { ServerBuild } from "react-router";
import { expect, test, vi } from "vitest";
import { createRequestHandler } from "./request-handler.ts";

test("if the client leaves while a middleware awaits, nothing is rendered", async () => {
  const [getLoadContext, next] = [vi.fn(), vi.fn()];
  const handle = createRequestHandler({ build: {} as ServerBuild, getLoadContext });
  await handle({} as Request, { closed: true, locals: {} } as Response, next);
  expect(getLoadContext).not.toHaveBeenCalled();
  expect(next).not.toHaveBeenCalled();
});
