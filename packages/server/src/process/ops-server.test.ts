import { pino } from "pino";
import { Registry } from "prom-client";
import request from "supertest";
import { expect, test } from "vitest";
import type { OpsCache } from "./ops-cache.ts";
import { createOpsServer } from "./ops-server.ts";

const FAILING = "services not ready: connect ECONNREFUSED";

test.each([
  [true, undefined, "10.0.0.1:3001", 200, "ready\n"],
  [true, FAILING, "10.0.0.1:3001", 200, `ready (${FAILING})\n`],
  [false, FAILING, "10.0.0.1:3001", 503, `not ready (${FAILING})\n`],
  [false, "shutting down", "greeting:3001", 503, "not ready (shutting down)\n"],
  [false, FAILING, "rebound.example:3001", 503, "not ready\n"],
])("a probe of a process that is ready: %s, for the reason %s, with the host %s gets %i", async (...row) => {
  const [isReady, reason, host, status, text] = row;
  const server = createOpsServer({
    registry: new Registry(),
    readReadiness: () => ({ isReady, reason }),
    readStatus: async () => ({ title: "", state: "", isGood: true, sections: [] }),
    cache: {} as OpsCache,
    host: undefined,
    log: pino({ enabled: false }),
  });
  const response = await request(server).get("/readyz").set("Host", host);
  expect([response.status, response.text]).toEqual([status, text]);
});
