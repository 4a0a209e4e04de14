// The contract of the two pages with their clients.
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { loadApp, startServer } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test } from "vitest";

const { app } = await loadApp();

const HTML = "text/html; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";
const CACHED = "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400";

test.each([
  ["GET", "/", 200, HTML, CACHED],
  ["HEAD", "/", 200, HTML, CACHED],
  ["GET", "/nowhere", 404, HTML, CACHED],
  ["GET", "/nowhere/else", 404, HTML, CACHED],
  ["GET", "/nowhere.data", 404, HTML, CACHED],
  ["GET", "/assets/nowhere.js", 404, TEXT, "no-store"],
  ["GET", "/favicon.ico", 200, "image/vnd.microsoft.icon", CACHED],
  ["GET", "/icon.svg", 200, "image/svg+xml", CACHED],
  ["GET", "/apple-touch-icon.png", 200, "image/png", CACHED],
  ["GET", "/site.webmanifest", 200, "application/manifest+json; charset=utf-8", CACHED],
  ["POST", "/", 405, TEXT, "no-store"],
  ["DELETE", "/nowhere", 405, TEXT, "no-store"],
])("%s %s has status %i, type %s and Cache-Control %s", async (method, path, status, type, cacheControl) => {
  const response = await request(app)[method.toLowerCase() as "get"](path);
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject({ "content-type": type, "cache-control": cacheControl });
});

test("all unknown paths have the same page", async () => {
  const pages = await Promise.all(["/nowhere", "/a/b/c?q=1", "/%F0%9F%8C%8D"].map((path) => request(app).get(path)));
  expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
});

test("a page is revalidated with 304", async () => {
  const { headers } = await request(app).get("/");
  const again = await request(app)
    .get("/")
    .set("If-None-Match", headers.etag as string);
  expect(again.status).toBe(304);
});

test(".env.example has each setting of the server, and the site's own that have no default", async () => {
  const text = readFileSync(".env.example", "utf8");
  const { lines, stop } = await startServer({ ...parseEnv(text), LOG_LEVEL: "info" } as Record<string, string>);
  expect(await stop()).toBe(0);
  const line: Record<string, unknown> = lines.find(({ msg }) => msg === "starting") ?? {};
  const named = [...text.matchAll(/^(?:# )?([A-Z_]+)=.*$/gm)].map(([, name]) => name);
  expect(named).toEqual(
    expect.arrayContaining(Object.keys({ ...(line.settings as object), ...(line.limits as object) })),
  );
});
