import request from "supertest";
import { expect, test } from "vitest";
// @ts-expect-error The build is what ships, and it has no types.
import { listener } from "../build/server/index.js";

test.each(["/", "/?", "/?q=1", "/?a=%E0%A4%A"])("%s is home", async (path) => {
  const response = await request(listener).get(path);
  expect(response.status).toBe(200);
  expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(response.text).toContain("Hello World</h1>");
});
