import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "react-router-express-server/testing";
import { vi } from "vitest";
import type { RunningServer } from "./start-server.ts";

// Debian's HAProxy isn't in a user's PATH.
const ENV = { PATH: `${process.env.PATH}:/usr/sbin` };

/** Starts HAProxy in front of processes whose readiness it checks each second. Resolves when it forwards requests. */
export async function startHaproxy(servers: RunningServer[]) {
  const { error } = spawnSync("haproxy", ["-v"], { env: ENV });
  if (error) throw new Error("This test needs HAProxy: on Debian, apt-get install haproxy");

  const url = `http://127.0.0.1:${await findFreePort()}`;
  const folder = mkdtempSync(join(tmpdir(), "haproxy-"));
  const pods = servers.map(
    ({ url, opsUrl }, index) => `server pod${index} ${new URL(url).host} check port ${new URL(opsUrl).port}`,
  );
  writeFileSync(
    `${folder}/haproxy.cfg`,
    `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend site
  bind ${new URL(url).host}
  default_backend pods
backend pods
  option httpchk GET /readyz
  default-server inter 1s fall 2 rise 1
  ${pods.join("\n  ")}
`,
  );
  const haproxy = spawn("haproxy", ["-db", "-f", `${folder}/haproxy.cfg`], { env: ENV, stdio: "ignore" });
  const exited = once(haproxy, "exit");
  const stop = async () => {
    haproxy.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true });
  };
  const isReady = async () => (await fetch(url).catch(() => undefined))?.ok;
  await vi.waitUntil(isReady, { timeout: 60_000 }).catch((error) => stop().then(() => Promise.reject(error)));
  return { url, stop };
}
