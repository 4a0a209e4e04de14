import { pino } from "pino";
import request from "supertest";
import { expect, test } from "vitest";
import { createExpress } from "../../express.ts";
import { ServerSettingsSchema } from "../../settings/server-settings.ts";
import { parseSettings } from "../../settings/settings.ts";
import { accessLog } from "./access-log.ts";

test.each([
  [undefined, "203.0.113.7", "203.0.113.7"],
  [undefined, "203.0.113.7, 10.0.0.1", "10.0.0.1"],
  ["loopback,uniquelocal", "1.1.1.1, 203.0.113.7, 10.0.0.1", "203.0.113.7"],
  ["none", "203.0.113.7", "127.0.0.1"],
  ["192.0.2.1", "203.0.113.7", "127.0.0.1"],
  ["127.0.0.1", "203.0.113.7, 10.0.0.1", "10.0.0.1"],
  ["loopback,203.0.113.0/24", "2001:db8::1, 203.0.113.7", "2001:db8::1"],
  ["loopback,203.0.113.0/24", "10.0.0.1, nobody", "127.0.0.1"],
  ["loopback", `${"127.0.0.1, ".repeat(1000)}203.0.113.7, 127.0.0.1`, "203.0.113.7"],
  ["loopback", `203.0.113.7,${"127.0.0.1,".repeat(1000)}127.0.0.1`, "127.0.0.1"],
])("with TRUST_PROXY=%s, the client of X-Forwarded-For: %.40s is %s", async (trust, forwarded, client) => {
  const { settings } = parseSettings(ServerSettingsSchema, { TRUST_PROXY: trust });
  const lines: unknown[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const handle = accessLog({ log, recordRequest: () => {}, trustProxy: settings.TRUST_PROXY });
  const app = createExpress().use((req, res) => {
    handle(req, res);
    res.end();
  });
  await request(app).get("/?token=secret").set("X-Forwarded-For", forwarded);
  await expect.poll(() => lines).toMatchObject([{ msg: "request", "url.path": "/", "client.address": client }]);
});
