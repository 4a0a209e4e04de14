import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import express, { type ErrorRequestHandler } from "express";
import { loadApp, startServer } from "react-router-express-server/testing";
import request from "supertest";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { forwardTo } from "../proxy.server.ts";

/** The other service sends back what it gets. */
const service = createServer(async (req, res) => {
  const path = req.url?.slice(req.url.indexOf("/shop")); // Below a path, too.
  if (path === "/shop/cut") {
    res.writeHead(200, { "Content-Length": "100" }).write("half");
    return void setTimeout(() => res.destroy(), 50);
  }
  if (path === "/shop/reset") return void req.socket.destroy();
  if (path === "/shop/silent") return;
  const body = await text(req);
  res.writeHead(path === "/shop/broken" ? 500 : 200, {
    "Content-Type": "application/json",
    "Set-Cookie": ["a=1", "b=2"],
    Connection: "keep-alive, X-Hop",
    "X-Hop": "1",
    "X-Service": "shop",
  });
  res.end(JSON.stringify({ method: req.method, url: path, headers: req.headers, body }));
}).listen(0, "127.0.0.1");
await once(service, "listening");
const SHOP_URL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
const { app } = await loadApp({ env: { SHOP_URL } });
afterAll(() => {
  service.closeAllConnections();
  service.close();
});

test("a request gets to the service, with its path and its query", async () => {
  const { status, headers, body } = await request(app)
    .get("/shop/cart?item=1")
    .set({ Cookie: "session=1", Connection: "X-Secret", "X-Secret": "1", TE: "trailers" });
  expect(status).toBe(200);
  expect(body).toMatchObject({ method: "GET", url: "/shop/cart?item=1", body: "" });
  expect(body.headers).toMatchObject({
    host: new URL(SHOP_URL).host,
    cookie: "session=1",
    "x-forwarded-for": expect.stringContaining("127.0.0.1"),
    "x-forwarded-host": expect.stringMatching(/^127\.0\.0\.1/),
    "x-forwarded-proto": "http",
  });
  for (const name of ["x-secret", "te"]) expect(body.headers).not.toHaveProperty(name);
  expect(headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  expect(headers).toMatchObject({ "x-service": "shop", "x-content-type-options": "nosniff" });
  expect(headers).not.toHaveProperty("x-hop");
});

test.each([
  ["POST", "name=Ada", 200],
  ["PUT", "x".repeat(90_000), 200],
  ["POST", "x".repeat(200_000), 413],
  ["DELETE", undefined, 200],
] as const)("%s with a body has status", async (method, body, status) => {
  const response = await request(app)[method.toLowerCase() as "post"]("/shop/cart").type("text").send(body);
  expect(response.status).toBe(status);
  if (status === 200) expect(response.body).toMatchObject({ method, body: body ?? "" });
});

test.each([
  ["/shop/broken", 500],
  ["/shop/reset", 502],
] as const)("%s has status %i", async (path, status) => {
  expect((await request(app).get(path)).status).toBe(status);
});

test("if the service doesn't respond in time, the client gets 504", async () => {
  const sendStatus: ErrorRequestHandler = (error, _req, res, _next) => void res.sendStatus(error.status);
  const impatient = express().use("/shop", forwardTo(SHOP_URL, 50), sendStatus);
  expect((await request(impatient).get("/shop/silent")).status).toBe(504);
});

test("a form of another site is rejected", async () => {
  expect((await request(app).post("/shop/cart").set("Sec-Fetch-Site", "cross-site")).status).toBe(403);
});

test("a response that is cut is cut for the client, too", async () => {
  await expect(request(app).get("/shop/cut")).rejects.toThrow(/aborted/);
});

test("without the service, the client gets 502, and the log has the error", async () => {
  const server = await startServer({ SHOP_URL: "http://127.0.0.1:1" });
  onTestFinished(async () => void (await server.stop()));
  expect((await fetch(`${server.url}/shop`)).status).toBe(502);
  const findLine = () => server.lines.find((line) => String(line["exception.message"]).includes("ECONNREFUSED"));
  await expect.poll(findLine).toBeDefined();
});
