import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test } from "vitest";

const { app } = await loadApp();
const SITE = "https://app.example.org";

test.each([
  ["GET", "/api/items", 200, [{ id: "1", name: "Lamp" }]],
  ["GET", "/api/items/1", 200, { id: "1", name: "Lamp" }],
  ["GET", "/api/items/2", 404, { error: "not found" }],
  ["GET", "/api/nothing", 404, { error: "not found" }],
  ["DELETE", "/api/items/1", 405, { error: "method not allowed" }],
] as const)("%s %s has status %i and JSON", async (method, path, status, body) => {
  const response = await request(app)[method.toLowerCase() as "get"](path);
  expect([response.status, response.body]).toEqual([status, body]);
  if (status === 405) expect(response.headers.allow).toBe("GET, HEAD, PUT");
});

test.each([
  ['{"name":"Chair"}', 200, { id: "3", name: "Chair" }],
  ['{"name":3}', 422, { error: "name must be a string" }],
  ['{"name":', 400, { error: expect.any(String) }],
] as const)("PUT of %s has status %i", async (json, status, body) => {
  const response = await request(app).put("/api/items/3").type("json").send(json);
  expect([response.status, response.body]).toEqual([status, body]);
});

test("scripts of a listed site may call the API, also with PUT", async () => {
  const preflight = await request(app)
    .options("/api/items/1")
    .set({ Origin: SITE, "Access-Control-Request-Method": "PUT" });
  expect(preflight.status).toBe(204);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": SITE,
    "access-control-allow-methods": expect.stringContaining("PUT"),
  });
  const headers = { Origin: SITE, "Sec-Fetch-Site": "cross-site" };
  const response = await request(app).put("/api/items/1").set(headers).send({ name: "Lamp" });
  expect([response.status, response.headers["access-control-allow-origin"]]).toEqual([200, SITE]);
});

test("scripts of other sites can't read the API", async () => {
  const { headers } = await request(app).get("/api/items").set("Origin", "https://evil.example");
  expect(headers).not.toHaveProperty("access-control-allow-origin");
  expect(headers.vary).toContain("Origin");
});
