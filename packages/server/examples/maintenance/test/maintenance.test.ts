import { loadApp, startServer } from "react-router-express-server/testing";
import request from "supertest";
import { onTestFinished } from "vitest";
import { expect, test } from "./support/fixtures.ts";

test.for([
  ["GET", "/"],
  ["GET", "/nowhere"],
  ["GET", "/favicon.ico"],
  ["POST", "/"],
] as const)("in maintenance, %s %s has status 503", async ([method, path]) => {
  const { app } = await loadApp({ env: { MAINTENANCE: "on" } });
  const { status, headers } = await request(app)[method.toLowerCase() as "get"](path);
  expect([status, headers["retry-after"], headers["cache-control"]]).toEqual([503, "600", "no-store"]);
});

test("browsers get a page, and others text", async ({ page, consoleMessages }) => {
  const server = await startServer({ MAINTENANCE: "on" });
  onTestFinished(async () => void (await server.stop()));
  await page.goto(server.url);
  expect(await page.getByRole("heading").textContent()).toBe("Back soon");
  // Its styles apply.
  expect(await page.evaluate(() => getComputedStyle(document.body).display)).toBe("grid");
  const response = await fetch(server.url, { headers: { Accept: "application/json, text/plain" } });
  expect(await response.text()).toBe("Back soon\n");
  // The load balancer still sends requests here.
  expect((await fetch(`${server.opsUrl}/readyz`)).status).toBe(200);
  expect(consoleMessages.splice(0).filter((message) => !message.includes("status of 503"))).toEqual([]);
});

test("without the setting, the site shows", async ({ server }) => {
  expect((await fetch(server.url)).status).toBe(200);
});
