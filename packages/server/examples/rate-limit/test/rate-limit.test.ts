import express from "express";
import request from "supertest";
import { expect, test } from "vitest";
import { limitForms, limitRequests } from "../rate-limit.server.ts";

/** The status of each of several requests to a handler with a limit. */
async function send(count: number, app: express.Express, method: "get" | "post", path: string) {
  const statuses = [];
  for (let sent = 0; sent < count; sent++) statuses.push((await request(app)[method](path)).status);
  return statuses;
}

/** As in server.ts, where the server sets the route. */
const createApp = () =>
  express()
    .use((req, res, next) => {
      res.locals.httpRoute = req.path.replace(".data", "");
      next();
    })
    .use("/api", limitRequests(2))
    .use(limitForms(["/sign-in"], 3))
    .use((_req, res) => void res.sendStatus(200));

test("the third request to a handler with a limit of two gets 429, and when to come back", async () => {
  const app = createApp();
  expect(await send(3, app, "get", "/api/items")).toEqual([200, 200, 429]);
  const { headers } = await request(app).get("/api/items");
  expect(Number(headers["retry-after"])).toBeGreaterThan(0);
});

test("a form has one limit with and without scripts, and its page has none", async () => {
  const app = createApp();
  expect(await send(2, app, "post", "/sign-in")).toEqual([200, 200]);
  expect(await send(2, app, "post", "/sign-in.data")).toEqual([200, 429]);
  expect(await send(4, app, "get", "/sign-in")).toEqual([200, 200, 200, 200]);
  expect(await send(4, app, "post", "/other")).toEqual([200, 200, 200, 200]);
});
