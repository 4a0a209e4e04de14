// Middleware in front that sets cookies, such as the sessions of express-session, which sets its cookie as the head is written.
import { readdirSync } from "node:fs";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test } from "vitest";
import { recordMetric } from "./support/record-metric.ts";
import { SITE } from "./support/site.ts";

const ASSET = `/assets/${readdirSync(`${SITE}/build/client/assets`).find((name) => name.endsWith(".js"))}`;
const FILM = "/film.mp4";
/** The film has 100 MB, so a GET is for a part. */
const rangeOf = (path: string) => (path === FILM ? { Range: "bytes=0-9" } : {});
const PATHS = [
  ["a cached page", "/", 200],
  ["the cached data of a page", "/example-pages/posts/1.data", 200],
  ["the not-found page", "/nowhere", 404],
  ["a file from memory", "/robots.txt", 200],
  ["a script", ASSET, 200],
  ["a file from disk", FILM, 206],
  ["a rendered page", "/example-pages/notes/1", 200],
  ["a rendered page with a public Cache-Control", "/example-pages/response?cache-control=public,%20max-age=60", 200],
] as const;

/** Middleware of test/site/front.ts. */
const FRONTS = ["cookie", "appended-cookie", "express-session", "cookie-session"];

test.each(FRONTS)(
  "%s: no response with a cookie is for shared caches, nor a 304, and no cookie is in a later one",
  async (front) => {
    const { app } = await loadApp({ folder: SITE, env: { FRONT: front } });
    const seen = new Set<string>();
    for (const [label, path, status] of PATHS) {
      for (const method of ["get", "head"] as const) {
        const response = await request(app)[method](path).set(rangeOf(path));
        const cookies = String(response.headers["set-cookie"]);
        // HEAD ignores Range.
        const expected = method === "head" && status === 206 ? 200 : status;
        expect([label, response.status, cookies]).toEqual([label, expected, expect.stringMatching(/^\S+=/)]);
        expect([label, response.headers["cache-control"]]).toEqual([label, expect.stringMatching(/private|no-store/)]);
        if (front.endsWith("session")) expect(seen).not.toContain(cookies);
        seen.add(cookies);
      }
    }
    // Nor is a 304.
    for (const path of ["/", "/robots.txt", ASSET, FILM]) {
      const { headers } = await request(app).get(path).set(rangeOf(path));
      const { status, headers: again } = await request(app).get(path).set("If-None-Match", String(headers.etag));
      expect([path, status]).toEqual([path, 304]);
      expect(again["set-cookie"]).toBeDefined();
      expect([path, again["cache-control"]]).toEqual([path, "private, no-cache"]);
    }
  },
);

test("a client that has its session gets the cached page for shared caches, without a cookie", async () => {
  const { app, registry } = await loadApp({ folder: SITE, env: { FRONT: "express-session" } });
  const renders = recordMetric(registry, "page_cache_renders_total", ({ result }) => result);
  const first = await request(app).get("/example-pages/posts/2");
  const [cookie] = String(first.headers["set-cookie"]).split(";");
  const { headers, text } = await request(app).get("/example-pages/posts/2").set("Cookie", String(cookie));
  expect(headers["set-cookie"]).toBeUndefined();
  expect(headers["cache-control"]).toMatch(/^public, max-age=0, s-maxage=60,/);
  expect(headers["cache-status"]).toMatch(/hit/);
  expect(text).toBe(first.text);
  expect(new Set(renders)).toEqual(new Set(["stored"]));
});

test.each(["", "?flat"])("a cookie among the arguments of writeHead%s is private", async (query) => {
  const { app } = await loadApp({ folder: SITE });
  const { headers } = await request(app).get(`/front/cookie-in-head${query}`);
  expect(headers["set-cookie"]).toEqual(["variant=b"]);
  expect(headers["cache-control"]).toBe("private, no-cache");
  expect(Object.keys(headers).filter((name) => /cdn|surrogate/.test(name))).toEqual([]);
});
