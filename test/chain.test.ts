import { pino } from "pino";
import supertest from "supertest";
import { expect, test } from "vitest";
import { chain } from "../server/chain.ts";
import { errorHandler } from "../server/middleware/error-handler.ts";
import { requestId } from "../server/middleware/request-id.ts";

test("an exception in front of Express causes 500, and is logged", async () => {
  const lines: { msg: string; err: { message: string }; "http.request.id": string }[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const fail = () => {
    throw new Error("a bug");
  };
  const app = chain([requestId, fail], (_req, res) => res.end("not reached"), errorHandler(log, {}));
  const response = await supertest(app).get("/").set("X-Request-Id", "one");
  expect([response.status, response.text]).toEqual([500, "Internal Server Error\n"]);
  expect(lines).toMatchObject([{ msg: "request failed", err: { message: "a bug" }, "http.request.id": "one" }]);
});
