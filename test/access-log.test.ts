import { createServer } from "node:http";
import { pino } from "pino";
import request from "supertest";
import { expect, test } from "vitest";
import { accessLog } from "../server/middleware/access-log.ts";
import { parseSettings, ServerSettingsSchema } from "../server/settings.ts";

test.each([
  [undefined, "203.0.113.7", "203.0.113.7"],
  [undefined, "203.0.113.7, 10.0.0.1", "10.0.0.1"],
  ["loopback,uniquelocal", "1.1.1.1, 203.0.113.7, 10.0.0.1", "203.0.113.7"],
  ["none", "203.0.113.7", "127.0.0.1"],
  ["192.0.2.1", "203.0.113.7", "127.0.0.1"],
  ["127.0.0.1", "203.0.113.7, 10.0.0.1", "10.0.0.1"],
  ["loopback,203.0.113.0/24", "2001:db8::1, 203.0.113.7", "2001:db8::1"],
  ["loopback,203.0.113.0/24", "10.0.0.1, nobody", "127.0.0.1"],
])("with TRUST_PROXY=%s, the client of X-Forwarded-For: %s is %s", async (trust, forwarded, client) => {
  const parsed = parseSettings(ServerSettingsSchema, { TRUST_PROXY: trust });
  if ("faults" in parsed) throw new Error(parsed.faults.join());
  const lines: unknown[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const handle = accessLog({ log, recordRequest: () => {}, trustProxy: parsed.settings.TRUST_PROXY });
  const server = createServer((req, res) => {
    handle(req, Object.assign(res, { locals: {} as Express.Locals }), () => res.end());
  }).listen(0, "127.0.0.1");
  await request(server).get("/?token=secret").set("X-Forwarded-For", forwarded);
  await expect.poll(() => lines).toMatchObject([{ msg: "request", "url.path": "/", "client.address": client }]);
  server.close();
});
