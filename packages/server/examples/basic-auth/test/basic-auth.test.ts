import { loadApp, startServer } from "react-router-express-server/testing";
import request from "supertest";
import { expect, onTestFinished, test } from "vitest";

const SITE_PASSWORD = "grün: early";
const { app } = await loadApp({ env: { SITE_PASSWORD } });

test.each(["/", "/nowhere", "/favicon.ico", "/assets/nowhere.js"])("%s needs the password", async (path) => {
  const { status, headers, text } = await request(app).get(path);
  expect([status, headers["www-authenticate"]]).toEqual([401, expect.stringMatching(/^Basic /)]);
  expect(text).not.toContain("<main");
});

test.each([
  ["the password", `Basic ${Buffer.from(`anyone:${SITE_PASSWORD}`).toString("base64")}`, 200],
  ["another password", `Basic ${Buffer.from("anyone:late").toString("base64")}`, 401],
  ["no password", "Basic ", 401],
  ["another scheme", `Bearer ${SITE_PASSWORD}`, 401],
])("with %s, a page has its status", async (_title, authorization, status) => {
  expect((await request(app).get("/").set("Authorization", authorization)).status).toBe(status);
});

test("without the setting, the site is open", async () => {
  const open = await loadApp();
  expect((await request(open.app).get("/")).status).toBe(200);
});

test("the probes need no password, and a short one fails the start", async () => {
  const server = await startServer({ SITE_PASSWORD });
  onTestFinished(async () => void (await server.stop()));
  expect((await fetch(`${server.opsUrl}/readyz`)).status).toBe(200);
  await expect(loadApp({ env: { SITE_PASSWORD: "short" } })).rejects.toThrow("SITE_PASSWORD");
});
