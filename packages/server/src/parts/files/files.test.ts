import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { Registry } from "prom-client";
import request from "supertest";
import { afterAll, expect, test } from "vitest";
import { createExpress } from "../../express.ts";
import { ROOT } from "../../site/base-path.ts";
import type { Pages } from "../../site/pages.ts";
import { createSecurityHeaders } from "../../site/security-headers.ts";
import { createUrlCheck } from "../check-url.ts";
import { errorHandler } from "../errors/handle-errors.ts";
import { receive } from "../receive/receive.ts";
import { measureRequests } from "../receive/request-metrics.ts";
import { readClientFiles } from "./client-files.ts";
import { sendFiles } from "./files.ts";

const log = pino({ enabled: false });
const securityHeaders = createSecurityHeaders("max-age=1", { isProduction: true });
const folder = mkdtempSync(join(tmpdir(), "files-"));
afterAll(() => rmSync(folder, { recursive: true }));
for (const [path, size] of Object.entries({ "robots.txt": 4, "assets/a-1.js": 4, "film.mp4": 600_000 })) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), "x".repeat(size));
}

const pages = { base: ROOT, findRoute: () => undefined } as unknown as Pages;
const { files } = readClientFiles(folder, { base: ROOT, securityHeaders, maxBytes: 1_000_000 });
const handleErrors = errorHandler(log);
const app = createExpress();
app.use(
  receive({
    log,
    recordRequest: measureRequests(new Registry(), []),
    trustProxy: () => false,
    securityHeaders,
    files,
    pages,
    admitBody: (_req, _res, next) => next(),
    handleErrors,
  }),
);
app.use(
  sendFiles(
    folder,
    files,
    pages,
    (_req, res, next) => {
      res.set("X-Admitted", "yes");
      next();
    },
    createUrlCheck(log, ROOT),
  ),
);
app.use((_req, res) => void res.status(404).send("passed on"));
app.use(handleErrors);

test.each([
  ["GET", "/robots.txt", 200, { "cache-control": expect.stringContaining("public") }],
  ["HEAD", "/robots.txt", 200, { "content-length": "4" }],
  ["GET", "/assets/a-1.js", 200, { "cache-control": expect.stringContaining("immutable") }],
  ["GET", "/film.mp4", 200, { "content-length": "600000", "x-admitted": "yes" }],
  ["GET", "/assets/missing.js", 404, { "cache-control": "no-store" }],
  ["POST", "/robots.txt", 405, { allow: "GET, HEAD" }],
  ["GET", "/nowhere", 404, { "cache-control": "private, no-cache" }],
])("%s %s: %d", async (method, path, status, headers) => {
  const response = await request(app)[method.toLowerCase() as "get" | "head" | "post"](path);
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject(headers);
  // A file in memory takes no slot.
  if (path !== "/film.mp4") expect(response.headers).not.toHaveProperty("x-admitted");
});

test("a range of a file is sent", async () => {
  const response = await request(app).get("/robots.txt").set("Range", "bytes=1-2");
  expect([response.status, response.headers["content-range"]]).toEqual([206, "bytes 1-2/4"]);
});
