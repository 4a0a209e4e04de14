import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { outcomeOf } from "./support/outcome.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

/** What `outcomeOf` says of a complete response. */
const SUCCESS = "ok";
const MIN_REQUESTS = 20_000;
const MIN_RESTARTS = 10;
/** On a busy machine the last responses may take long. */
const SETTINGS = { SHUTDOWN_TIMEOUT_MS: "60000" };

// Debian keeps nginx where a user's PATH doesn't reach.
const NGINX_ENV = { PATH: `${process.env.PATH}:/usr/sbin` };

let folder: string;
let copies: RunningServer[];
let nginx: ChildProcess;
let url: string;

beforeAll(async () => {
  const { error } = spawnSync("nginx", ["-v"], { env: NGINX_ENV });
  if (error) throw new Error("This test needs nginx: on Debian, apt-get install nginx-light");

  copies = [await startServer(SETTINGS), await startServer(SETTINGS)];
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  url = `http://127.0.0.1:${port}`;

  folder = mkdtempSync(join(tmpdir(), "nginx-"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    `${folder}/nginx.conf`,
    `daemon off;
    pid ${folder}/pid;
    worker_processes 1;
    events { worker_connections 1024; }
    http {
      access_log off;
      ${temporary.join("\n")}
      upstream greeting {
        ${copies.map((copy) => `server ${new URL(copy.url).host} max_fails=0;`).join("\n")}
        keepalive 16;
      }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://greeting;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $host;
          proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
          proxy_set_header X-Request-Id $request_id;
        }
      }
    }`,
  );
  nginx = spawn("nginx", ["-p", folder, "-e", `${folder}/error.log`, "-c", `${folder}/nginx.conf`], {
    env: NGINX_ENV,
    stdio: "inherit",
  });
  await vi.waitUntil(
    async () => {
      const response = await fetch(url).catch(() => undefined);
      return response?.ok;
    },
    { timeout: 60_000 },
  );
});

afterAll(async () => {
  nginx?.kill("SIGTERM");
  for (const copy of copies ?? []) await copy.stop();
  if (folder) rmSync(folder, { recursive: true });
});

test("two copies behind nginx, restarted one after the other under load, fail no request", async () => {
  const outcomes: Record<string, number> = {};
  let isOver = false;
  const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: false })];
  const clients = agents.flatMap((agent) =>
    Array.from({ length: 10 }, async () => {
      while (!isOver) {
        const outcome = await outcomeOf(url, agent);
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
