// helmet in front: its policy would block the pages' inline scripts and styles.
import { keepViolations, loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { onTestFinished } from "vitest";
import { expect, open, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const CACHED = "/";
const NOT_FOUND = "/nowhere";
const RENDERED = "/example-pages/notes/1";
const RENDERED_404 = "/example-pages/notes/3";

const loadWithHelmet = () => loadApp({ folder: SITE, env: { FRONT: "helmet" } });

/** A policy without its nonce, which is a new one each time. */
const withoutNonce = (policy: unknown) => String(policy).replaceAll(/nonce-[^']+/g, "nonce");

test("pages keep their own policy, and one log line names the header that was replaced", async () => {
  const [plain, protectedByHelmet] = [await loadApp({ folder: SITE }), await loadWithHelmet()];
  for (const path of [CACHED, NOT_FOUND, RENDERED, RENDERED_404, "/example-pages/broken/loader"]) {
    const [own, { headers }] = [await request(plain.app).get(path), await request(protectedByHelmet.app).get(path)];
    const policy = withoutNonce(headers["content-security-policy"]);
    expect([path, policy]).toEqual([path, withoutNonce(own.headers["content-security-policy"])]);
    expect(policy).toMatch(/'(nonce|sha256-.+)'/);
    // Others, which don't break a page, are helmet's.
    expect(headers).toMatchObject({ "x-frame-options": "SAMEORIGIN", "x-dns-prefetch-control": "off" });
  }
  const { headers: first } = await request(protectedByHelmet.app).get(CACHED);
  const { status, headers } = await request(protectedByHelmet.app).get(CACHED).set("If-None-Match", String(first.etag));
  expect([status, headers["content-security-policy"]]).toEqual([304, first["content-security-policy"]]);

  const warnings = protectedByHelmet.lines.filter(({ level }) => level === 40);
  expect(warnings).toMatchObject([{ header: "Content-Security-Policy", "http.route": "/" }]);
  expect(warnings[0]?.msg).toMatch(/contentSecurityPolicy: false.*handle\.securityHeaders/);
});

test("files and resource routes, which have no inline scripts, keep helmet's policy", async () => {
  const { app, lines } = await loadWithHelmet();
  for (const path of ["/robots.txt", "/film.mp4", "/example-pages/feed.md", "/example-pages/temperature"]) {
    const { headers } = await request(app)[path === "/film.mp4" ? "head" : "get"](path); // It has 100 MB.
    expect([path, headers["content-security-policy"]]).toEqual([path, expect.stringMatching(/upgrade-insecure/)]);
  }
  expect(lines.filter(({ level }) => level === 40)).toEqual([]);
});

test("a page's handle has priority over helmet, so that its pop-up works", async () => {
  const { app, lines } = await loadWithHelmet();
  const { headers } = await request(app).get("/example-pages/google");
  expect(headers["cross-origin-opener-policy"]).toBe("same-origin-allow-popups");
  const names = lines.filter(({ level }) => level === 40).map((line) => (line as { header?: string }).header);
  expect(names).toEqual(["Content-Security-Policy", "Cross-Origin-Opener-Policy"]);
});

test("with helmet, pages hydrate without violations", async ({ page }) => {
  const { url, stop } = await startServer({ FRONT: "helmet" }, SITE);
  onTestFinished(async () => void (await stop()));
  await keepViolations(page);
  for (const path of [CACHED, RENDERED]) {
    await open(page, url + path);
    expect(await page.evaluate(() => window.violations)).toEqual([]);
  }
});
