import type { Request, Response } from "express";
import { expect, test } from "vitest";
import { MAX_HEADER_LINES } from "../../http/request-target.ts";
import { rejectMalformed } from "./reject-malformed.ts";

const BASE = { path: "/app/" };

type Given = { rawHeaders?: string[]; httpVersion?: string; headers?: Record<string, string> };

function receive(url: string, { rawHeaders = [], httpVersion = "1.1", headers = {} }: Given) {
  const req = { originalUrl: url, url, headers: { host: "x", ...headers }, rawHeaders, httpVersion, method: "GET" };
  const res = { locals: {} };
  const error = rejectMalformed(req as unknown as Request, res as unknown as Response, BASE);
  return { status: error?.status, url: req.url, headers: req.headers };
}

test.each([
  ["a path of the site", "/app/a?b", {}, undefined, "/a?b"],
  ["letters that are encoded, which a password at a path would miss", "/app/%70rivate", {}, undefined, "/private"],
  ["a path outside the base path", "/a", {}, 404, "/a"],
  ["a path with malformed percent-encoding, whose signs are escaped", "/app/100%", {}, undefined, "/100%25"],
  ["an authority, as for CONNECT", "x:80", {}, 400, "x:80"],
  ["a fragment", "/app/#a", {}, 400, "/app/#a"],
  ["two hosts in one header", "/app/", { headers: { host: "a, b" } }, 400, "/app/"],
  ["the most header lines", "/app/", { rawHeaders: Array(2 * MAX_HEADER_LINES).fill("a") }, undefined, "/"],
  ["more header lines", "/app/", { rawHeaders: Array(2 * MAX_HEADER_LINES + 2).fill("a") }, 431, "/app/"],
  ["the expectation of a client with a body", "/app/", { headers: { expect: "100-Continue" } }, undefined, "/"],
  ["another expectation", "/app/", { headers: { expect: "tea" } }, 417, "/"],
  [
    "another expectation in HTTP/1.0, which has none",
    "/app/",
    { headers: { expect: "tea" }, httpVersion: "1.0" },
    undefined,
    "/",
  ],
])("a request with %s: %s", (_what, url, given: Given, status, passedOn) => {
  expect(receive(url, given)).toMatchObject({ status, url: passedOn });
});

test("the host that a client wants in links isn't passed on", () => {
  expect(receive("/app/", { headers: { "x-forwarded-host": "evil.example" } }).headers).toEqual({ host: "x" });
});
