import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import request from "supertest";
import { expect, test } from "vitest";
// @ts-expect-error The build is what ships, and it has no types.
import { listener } from "../build/server/index.js";

const BROWSER_CODINGS = "gzip, deflate, br, zstd";

test.each(["/", "/?", "/?q=1", "/?a=%E0%A4%A", "/?path=/nope", "//", "///"])("%s is home", async (path) => {
  const response = await request(listener).get(path);
  expect(response.status).toBe(200);
  expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(response.text).toContain("<h1>Hello World</h1>");
  expect(response.text).toContain('<p lang="zh-Hans">欢迎来到我的世界 🌍</p>');
  expect(response.text).toContain('<div id="root">');
});

test.each([
  "/nope",
  "/nope/",
  "/NOPE",
  "/a/b/c/d",
  "/index.html",
  "/home",
  "/404",
  "/.",
  "/..",
  "/a//b",
  "/%",
  "/%E0%A4%A",
  "/%00",
  "/%2f",
  "/%252e%252e%252f",
  "/..%2f..%2fetc/passwd",
  "/../../etc/passwd",
  "/.env",
  "/.git/config",
  "/wp-login.php?x=1",
  "/assets",
  "/livez",
  "/metrics",
  "/__manifest",
  "/_.data",
  "/_root.data",
  "/nope.data",
  "/欢迎",
  "/👋",
  "/%c%s",
  `/${"a".repeat(7000)}`,
])("%s is not found", async (path) => {
  const response = await request(listener).get(encodeURI(path).replaceAll("%25", "%"));
  expect(response.status).toBe(404);
  expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(response.text).toContain("<h1>404</h1><p>Oops! Page not found</p>");
  expect(response.text).toMatch(/<a href="\/"[^>]*>Return to Home<\/a>/);
  expect(response.text).toContain('<meta name="robots" content="noindex"/>');
});

test.each(["/", "/nope", "/robots.txt", "/assets/nope.js"])("HEAD of %s is GET without the body", async (path) => {
  const headers = { "Accept-Encoding": "br", "X-Request-Id": "same" };
  const whole = await request(listener).get(path).set(headers);
  const head = await request(listener).head(path).set(headers);
  expect(head.status).toBe(whole.status);
  expect(head.text ?? "").toBe("");
  expect({ ...head.headers, date: "" }).toEqual({ ...whole.headers, date: "" });
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["gzip", "gzip"],
  ["br", "br"],
  [BROWSER_CODINGS, "br"],
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
  // Not by supertest, which unpacks what it gets.
  const server = createServer(listener).listen(0);
  const headers = accepted === undefined ? {} : { "Accept-Encoding": accepted };
  const [response] = await once(
    get({ port: (server.address() as AddressInfo).port, headers, agent: false }),
    "response",
  );
  const body = await buffer(response);
  server.close();
  expect(response.headers["content-encoding"]).toBe(coding);
  expect(response.headers.vary).toBe("Accept-Encoding");
  expect(response.headers["content-length"]).toBe(String(body.length));
  expect(response.headers.etag).toBe(`"${createHash("sha256").update(body).digest("base64url")}"`);
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ""] ?? ((bytes: Buffer) => bytes);
  expect(unpack(body).toString()).toContain("<h1>Hello World</h1>");
});

const { etag } = (await request(listener).get("/").set("Accept-Encoding", "br")).headers as { etag: string };

test.each([
  ["/", etag, 304],
  ["/", `W/${etag}`, 304],
  ["/", `"other", ${etag}`, 304],
  ["/", "*", 304],
  ["/", '"other"', 200],
  ["/", etag.replaceAll('"', ""), 200],
  ["/nope", "*", 404],
])("%s with If-None-Match %s answers %i", async (path, condition, status) => {
  const response = await request(listener).get(path).set("Accept-Encoding", "br").set("If-None-Match", condition);
  expect(response.status).toBe(status);
  expect(response.headers.vary).toBe("Accept-Encoding");
  expect(response.headers["cache-control"]).toBe("public, max-age=0, s-maxage=60, must-revalidate");
  if (status === 304) {
    expect(response.headers.etag).toBe(etag);
    expect(response.headers).not.toHaveProperty("content-type");
    expect(response.headers).not.toHaveProperty("content-encoding");
  }
});

test("the documents of all unknown addresses are the same", async () => {
  const bodies = await Promise.all(
    ["/a", "/b?c", "/d/e/f"].map(async (path) => (await request(listener).get(path)).text),
  );
  expect(new Set(bodies).size).toBe(1);
});

test("assets are compressed, and kept for ever", async () => {
  const { text } = await request(listener).get("/");
  const scripts = new Set(text.match(/\/assets\/[\w.-]+\.js/g));
  expect(scripts.size).toBe(4);
  for (const script of scripts) {
    for (const coding of ["br", "gzip"]) {
      const response = await request(listener).get(script).set("Accept-Encoding", coding);
      expect(response.status).toBe(200);
      expect(response.headers).toMatchObject({
        "content-encoding": coding,
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "public, max-age=31536000, immutable",
        vary: "Accept-Encoding",
      });
    }
  }
});

test.each(["/assets/", "/assets/nope.js", "/assets/nope.js.br"])("%s is a plain 404", async (path) => {
  const response = await request(listener).get(path);
  expect(response.status).toBe(404);
  expect(response.headers).toMatchObject({ "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  expect(response.text).toBe("Not Found\n");
});

test.each([
  ["/robots.txt", "text/plain; charset=utf-8"],
  ["/favicon.ico", "image/vnd.microsoft.icon"],
  ["/icon.svg", "image/svg+xml"],
  ["/apple-touch-icon.png", "image/png"],
  ["/site.webmanifest", "application/manifest+json; charset=utf-8"],
])("%s is served as %s, and revalidates", async (path, type) => {
  const response = await request(listener).get(path);
  expect(response.status).toBe(200);
  expect(response.headers).toMatchObject({
    "content-type": type,
    "cache-control": "public, max-age=0, must-revalidate",
  });
  const again = await request(listener)
    .get(path)
    .set("If-None-Match", response.headers.etag as string);
  expect(again.status).toBe(304);
});
