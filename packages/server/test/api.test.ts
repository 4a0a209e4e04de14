// The contract of the application with its clients.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test, vi } from "vitest";
import { ODD_PATHS } from "./odd-paths.ts";
import { SITE } from "./support/site.ts";

vi.useFakeTimers({ toFake: ["performance"] }); // Cached pages stay fresh, on however slow a machine.
const { app } = await loadApp({ folder: SITE });
const { app: appWithoutCache } = await loadApp({ folder: SITE, parts: { pageCache: (_req, _res, next) => next() } });

const home = await request(app).get("/").set("Accept-Encoding", "identity");
const notFound = await request(app).get("/nowhere").set("Accept-Encoding", "identity");
const [script = ""] = /\/assets\/[\w.-]+\.js/.exec(home.text) ?? [];

const HTML = "text/html; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";
const CACHE_CONTROL = "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400";
const ASSET_CACHE_CONTROL = "public, max-age=31536000, immutable";

test.each([
  ["GET", "/", 200, HTML, CACHE_CONTROL],
  ["GET", "/nowhere", 404, HTML, CACHE_CONTROL],
  ["GET", "/nowhere.data", 404, HTML, CACHE_CONTROL],
  ["GET", "/assets", 404, HTML, CACHE_CONTROL],
  ["GET", script, 200, "text/javascript; charset=utf-8", ASSET_CACHE_CONTROL],
  ["GET", "/assets/", 404, TEXT, "no-store"],
  ["GET", "/assets/nowhere.js", 404, TEXT, "no-store"],
  ["GET", `${script}.br`, 404, TEXT, "no-store"],
  ["GET", `${script}.map`, 404, TEXT, "no-store"],
  ["GET", "/robots.txt", 200, TEXT, CACHE_CONTROL],
  ["GET", "/favicon.ico", 200, "image/vnd.microsoft.icon", CACHE_CONTROL],
  ["GET", "/icon.svg", 200, "image/svg+xml", CACHE_CONTROL],
  ["GET", "/apple-touch-icon.png", 200, "image/png", CACHE_CONTROL],
  ["GET", "/site.webmanifest", 200, "application/manifest+json; charset=utf-8", CACHE_CONTROL],
  ["POST", "/", 405, TEXT, "no-store"],
  ["PUT", "/nowhere", 405, TEXT, "no-store"],
  ["OPTIONS", "/robots.txt", 405, TEXT, "no-store"],
  ["DELETE", script, 405, TEXT, "no-store"],
])("%s %s has status %i, type %s and Cache-Control %s", async (method, path, status, type, cacheControl) => {
  const response = await request(app)[method.toLowerCase() as "get"](path);
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject({ "content-type": type, "cache-control": cacheControl });
  expect(response.headers.allow).toBe(status === 405 ? "GET, HEAD" : undefined);
});

test.each(["/", "/?", "/?q=1", "/?a=%E0%A4%A", "/?path=/nope", "//", "///"])("%s is home", async (path) => {
  const { status, text } = await request(app).get(path);
  expect([status, text]).toEqual([200, home.text]);
});

test.each(ODD_PATHS.filter(([, path]) => !path.startsWith("/assets/")))("%s is not found", async (_label, path) => {
  const { status, headers, text } = await request(app).get(path);
  expect([status, headers["content-type"]]).toEqual([404, HTML]);
  // No pattern of React Router's matches a line break: the error page of app/root.tsx has the same words.
  if (!/%0[ad]/.test(path)) expect(text).toBe(notFound.text);
});

const withoutTime = ({ date, age, "cache-status": status, ...headers }: request.Response["headers"]) => headers;

test.each(["/", "/nowhere", "/robots.txt", "/assets/nowhere.js"])("HEAD %s is GET without the body", async (path) => {
  const headers = { "Accept-Encoding": "br", "X-Request-Id": "same" };
  const whole = await request(app).get(path).set(headers);
  const head = await request(app).head(path).set(headers);
  expect(head.status).toBe(whole.status);
  expect(head.text ?? "").toBe("");
  expect(withoutTime(head.headers)).toEqual(withoutTime(whole.headers));
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["*", "br"],
  ["br;q=0", undefined],
  ["br;q=0, *", "gzip"],
  ["gzip;q=0.5, *;q=0", "gzip"],
  ["gzip, br;q=0.5", "gzip"],
  ["gzip;q=0.5, br;q=0.6", "br"],
  ["identity, br;q=0.5", undefined],
  ["identity;q=0", undefined],
  ["*;q=0", undefined],
  ["GZIP", "gzip"],
  ["deflate, zstd", undefined],
  [";;,,q=", undefined],
])("Accept-Encoding %j gets %s", async (accepted, coding) => {
  // Not by supertest, which decompresses responses.
  const server = createServer(app).listen(0);
  const headers = accepted === undefined ? {} : { "Accept-Encoding": accepted };
  const { port } = server.address() as AddressInfo;
  const [response] = await once(get({ port, headers, agent: false }), "response");
  const body = await buffer(response);
  server.close();
  expect(response.headers["content-encoding"]).toBe(coding);
  expect(response.headers.vary).toBe("Accept-Encoding");
  expect(response.headers["content-length"]).toBe(String(body.length));
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ""] ?? ((bytes: Buffer) => bytes);
  expect(unpack(body).toString()).toBe(home.text);
  // Each coding has its own tag (RFC 9110 §8.8.3.3), a hash of the content.
  const hash = createHash("sha256").update(home.text).digest("base64url");
  expect(response.headers.etag).toBe(coding ? `"${hash}-${coding}"` : `"${hash}"`);
});

test.each(["br", "gzip"])("an asset is sent with the content coding %s", async (coding) => {
  const { headers } = await request(app).get(script).set("Accept-Encoding", coding);
  expect(headers).toMatchObject({ "content-encoding": coding, vary: "Accept-Encoding" });
});

test.each([
  ["/", home.headers.etag, 304],
  ["/", `W/${home.headers.etag}`, 304],
  ["/", `"other", ${home.headers.etag}`, 304],
  ["/", "*", 304],
  ["/", '"other"', 200],
  ["/", home.headers.etag?.replaceAll('"', ""), 200],
  ["/nowhere", "*", 404],
])("%s with If-None-Match %s: %i", async (path, condition, status) => {
  const headers = { "Accept-Encoding": "identity", "If-None-Match": condition as string };
  const response = await request(app).get(path).set(headers);
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject({ vary: "Accept-Encoding", "cache-control": CACHE_CONTROL });
  if (status === 304) {
    expect(response.headers.etag).toBe(home.headers.etag);
    expect(response.headers).not.toHaveProperty("content-type");
  }
});

test.each(["/robots.txt", script])("%s is revalidated with 304", async (path) => {
  const { headers } = await request(app).get(path);
  const again = await request(app)
    .get(path)
    .set("If-None-Match", headers.etag as string);
  expect(again.status).toBe(304);
});

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

test.each([
  ["GET", "/example-pages/notes/1", "", 200, HTML, "private, no-cache"],
  ["GET", "/example-pages/notes/1.data", "", 200, "text/x-script; charset=utf-8", "private, no-cache"],
  ["GET", "/example-pages/notes/3", "", 404, HTML, "private, no-cache"],
  ["GET", "/example-pages/temperature", "", 200, "application/json; charset=utf-8", "private, no-cache"],
  ["GET", "/example-pages/about", "", 200, HTML, CACHE_CONTROL],
  ["GET", "/example-pages/docs/setup/linux", "", 200, HTML, "private, no-cache"],
  ["GET", "/example-pages/broken/loader", "", 500, HTML, "private, no-cache"],
  ["POST", "/example-pages/sign-up", "email=nobody", 400, HTML, "private, no-cache"],
  ["POST", "/example-pages/sign-up", "email=taken@example.org", 409, HTML, "private, no-cache"],
  ["POST", "/example-pages/sign-up", "email=ada@example.org", 303, undefined, "private, no-cache"],
  [
    "POST",
    "/example-pages/sign-up.data",
    "email=ada@example.org",
    202,
    "text/x-script; charset=utf-8",
    "private, no-cache",
  ],
  ["PUT", "/example-pages/sign-up", "email=ada@example.org", 303, undefined, "private, no-cache"],
  ["POST", "/example-pages/notes/1", "a=1", 405, HTML, "private, no-cache"],
  ["POST", "/example-pages/notes/1.data", "a=1", 405, "text/x-script; charset=utf-8", "private, no-cache"],
  ["POST", "/example-pages/temperature", "a=1", 405, TEXT, "no-store"],
  ["POST", "/example-pages/about", "a=1", 405, TEXT, "no-store"],
])("example %s %s %j: status %i, type %s, Cache-Control %s", async (method, path, body, status, type, cacheControl) => {
  const sent = request(app)[method.toLowerCase() as "get"](path);
  const response = await (body ? sent.set(FORM).send(body) : sent);
  expect(response.status).toBe(status);
  expect(response.headers["content-type"]).toBe(type);
  expect(response.headers["cache-control"]).toBe(cacheControl);
  expect(response.headers.location).toBe(status === 303 ? "/example-pages/about" : undefined);
  expect(response.headers.allow).toBe(status === 405 ? "GET, HEAD" : undefined);
});

/** A cached page has its preloads once, in another order, and with a priority. */
function withoutPreloads(html: string) {
  const preload = /<link (?:fetchpriority="low" )?rel="modulepreload"( href="[^"]+"\/>)/g;
  const preloads = Array.from(html.matchAll(preload), ([, href]) => href);
  return { html: html.replaceAll(preload, ""), preloads: new Set(preloads.sort()) };
}

/** Removes what differs between a cached and a rendered response: nonces, framing, and headers like ETag and Age. */
function withoutRepresentation({ status, text, headers }: request.Response) {
  const { date, etag, vary, connection, "x-request-id": id, "content-length": length, ...rest } = headers;
  const {
    "transfer-encoding": framing,
    age,
    "cache-status": cacheStatus,
    "content-security-policy": policy,
    ...others
  } = rest;
  return {
    status,
    text: withoutPreloads(text.replaceAll(/ nonce="[^"]*"/g, "").replaceAll(/nonce":"[^"]*"/g, 'nonce":""')),
    headers: others,
    policy: policy?.replaceAll(/ '(nonce|sha256)-[^']+'/g, ""),
  };
}

test.each([
  "/",
  "/?q=1",
  "//",
  "/nowhere",
  "/a/b/c",
  "/%00",
  "/%",
  "/assets",
  "/assets/nowhere.js",
  "/robots.txt",
  script,
])("%s has the same response with and without the page cache", async (path) => {
  const headers = { "Accept-Encoding": "identity" };
  const cached = withoutRepresentation(await request(app).get(path).set(headers));
  const rendered = withoutRepresentation(await request(appWithoutCache).get(path).set(headers));
  // Without the page cache, a page is rendered with the client's cookies.
  const { "content-type": type, "cache-control": cacheControl } = cached.headers;
  const isCachedPage = type?.startsWith("text/html") && cacheControl?.includes("s-maxage");
  if (isCachedPage) cached.headers["cache-control"] = "private, no-cache";
  expect(rendered).toEqual(cached);
});

test.each(["POST", "PUT", "OPTIONS"])("%s of a page gets 405, also without the page cache", async (method) => {
  const { status, headers } = await request(appWithoutCache)[method.toLowerCase() as "post"]("/");
  expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
});
