import type { RequestListener } from "node:http";
import type { RequestHandler } from "express";
import createHttpError from "http-errors";
import { pino } from "pino";
import request from "supertest";
import { expect, test } from "vitest";
import { createExpress } from "../../express.ts";
import { errorHandler } from "./handle-errors.ts";

/** An application with one handler. */
function serve(handler: RequestHandler) {
  const lines: { msg: string; err: { message: string } }[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const app = createExpress().use(handler, errorHandler(log));
  return { client: request(app as RequestListener), lines };
}

const BUSY = createHttpError(503, { expose: true, headers: { "Retry-After": "5" } });

test.each<[string, unknown, number, string, boolean]>([
  ["an error", new Error("secret"), 500, "Internal Server Error\n", true],
  ["a text", "secret", 500, "Internal Server Error\n", true],
  ["an error that means to be a success", { status: 200 }, 500, "Internal Server Error\n", true],
  ["an error with an unknown status", { status: 999 }, 500, "Internal Server Error\n", true],
  ["an error of the client", createHttpError(404, "secret"), 404, "Not Found\n", false],
  ["a URL that can't be parsed", { code: "ERR_INVALID_URL" }, 400, "Bad Request\n", false],
  ["a body that is too large", createHttpError(413), 413, "This is too large to be sent. Go back, ", false],
  ["an overload", BUSY, 503, "Service Unavailable\n", false],
])("a client whose request causes %s gets a plain text, and a fault of the server is logged", async (...row) => {
  const [, error, status, text, isLogged] = row;
  const { client, lines } = serve(() => {
    throw error;
  });
  const response = await client.get("/");
  expect([response.status, response.type]).toEqual([status, "text/plain"]);
  expect(response.text.startsWith(text)).toBe(true);
  expect(response.headers["cache-control"]).toBe("no-store");
  expect(response.headers["retry-after"]).toBe(error === BUSY ? "5" : undefined);
  expect(lines.map(({ msg }) => msg)).toEqual(isLogged ? ["request failed"] : []);
});

test.each([
  ["ETag", '"a"', undefined],
  ["Cache-Control", "public, s-maxage=60", "no-store"],
  ["Content-Encoding", "br", undefined],
  ["Set-Cookie", "a=b", undefined],
  ["RateLimit-Limit", "10", "10"],
  ["X-Request-Id", "1", "1"],
])("the header %s of the failed response is %s: the error is sent with %s", async (name, set, sent) => {
  const { client } = serve((_req, res) => {
    res.setHeader(name, set);
    throw new Error("broken");
  });
  expect((await client.get("/")).headers[name.toLowerCase()]).toBe(sent);
});

test("HEAD gets the error's headers alone", async () => {
  const { client } = serve(() => {
    throw createHttpError(404);
  });
  const { status, headers, text } = await client.head("/");
  expect([status, headers["content-length"], text]).toEqual([404, "10", undefined]);
});

test("a response that fails after its head is cut, so that no client takes it for complete", async () => {
  const { client, lines } = serve((_req, res, next) => {
    res.write("half");
    setImmediate(() => next(new Error("broken")));
  });
  await expect(client.get("/")).rejects.toThrow("aborted");
  expect(lines).toMatchObject([{ msg: "request failed", err: { message: "broken" } }]);
});
