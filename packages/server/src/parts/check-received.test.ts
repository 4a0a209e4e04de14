import express, { type RequestHandler } from "express";
import request from "supertest";
import { expect, test } from "vitest";
import { admit } from "./admit/admit.ts";
import { sendFiles } from "./files/files.ts";
import { pageCache } from "./page-cache/page-cache.ts";

const pass: RequestHandler = (_req, _res, next) => next();
const none = {} as never;

test.each([
  ["files", sendFiles(undefined, new Map(), { base: { path: "/" }, findRoute: () => undefined } as never, pass, none)],
  ["pageCache", pageCache("site", none, none)],
  ["admit", admit({ takeSlot: pass, setOrigin: pass, checkOrigin: pass })],
])("%s without receive in front fails with one sentence", async (name, part) => {
  const { status, text } = await request(express().use(part)).get("/");
  expect([status, text]).toEqual([500, expect.stringContaining(`\`${name}\` needs \`app.use(receive)\` before it`)]);
});
