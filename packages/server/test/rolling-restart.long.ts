import { Agent } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startNginx } from "./support/nginx.ts";
import { outcomeOf } from "./support/outcome.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** The result of `outcomeOf` for a complete response. */
const SUCCESS = "ok";
const MIN_REQUESTS = 20_000;
const MIN_RESTARTS = 10;
/** On a busy machine the last responses may take long. */
const SETTINGS = { SHUTDOWN_TIMEOUT_MS: "60000" };

let copies: RunningServer[];
let nginx: Awaited<ReturnType<typeof startNginx>>;

beforeAll(async () => {
  copies = [await startServer(SETTINGS), await startServer(SETTINGS)];
  const addresses = copies.map(({ url }) => `server ${new URL(url).host} max_fails=0;`);
  nginx = await startNginx(`upstream greeting { ${addresses.join(" ")} keepalive 16; }`, "proxy_pass http://greeting;");
});

afterAll(async () => {
  await nginx?.stop();
  for (const copy of copies ?? []) await copy.stop();
});

test("two copies behind nginx, restarted one after the other under load, fail no request", async () => {
  const outcomes: Record<string, number> = {};
  let isOver = false;
  const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: false })];
  const clients = agents.flatMap((agent) =>
    Array.from({ length: 10 }, async () => {
      while (!isOver) {
        const outcome = await outcomeOf(nginx.url, agent);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
    }),
  );

  let restarts = 0;
  while (restarts < MIN_RESTARTS || (outcomes[SUCCESS] ?? 0) < MIN_REQUESTS) {
    const index = restarts % copies.length;
    const { url: before, opsUrl, stop } = copies[index] as RunningServer;
    expect(await stop()).toBe(0);
    copies[index] = await startServer({ ...SETTINGS, PORT: new URL(before).port, OPS_PORT: new URL(opsUrl).port });
    restarts += 1;
  }
  isOver = true;
  await Promise.all(clients);
  console.log(`${restarts} restarts`, outcomes);
  expect(outcomes).toEqual({ [SUCCESS]: expect.any(Number) });
});
