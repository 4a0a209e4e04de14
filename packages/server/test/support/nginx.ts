import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "react-router-express-server/testing";
import { vi } from "vitest";

// Debian's nginx isn't in a user's PATH.
const ENV = { PATH: `${process.env.PATH}:/usr/sbin` };

/** Starts nginx with lines for its `http` context and for its only `location`. Resolves when it forwards requests. */
export async function startNginx(http: string, location: string, port?: number) {
  const { error } = spawnSync("nginx", ["-v"], { env: ENV });
  if (error) throw new Error("This test needs nginx: on Debian, apt-get install nginx-light");

  const url = `http://127.0.0.1:${port ?? (await findFreePort())}`;
  const folder = mkdtempSync(join(tmpdir(), "nginx-"));
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    `${folder}/nginx.conf`,
    `daemon off;
    ${process.getuid?.() === 0 ? "user root root;" : ""}
    pid ${folder}/pid;
    worker_processes 1;
    events { worker_connections 1024; }
    http {
      access_log off;
      ${paths.join("\n")}
      proxy_cache_path ${folder}/cache keys_zone=cache:1m;
      ${http}
      server {
        listen ${new URL(url).host};
        location / {
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $host;
          proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
          proxy_set_header X-Request-Id $request_id;
          ${location}
        }
      }
    }`,
  );
  const nginx = spawn("nginx", ["-p", folder, "-e", `${folder}/error.log`, "-c", `${folder}/nginx.conf`], {
    env: ENV,
    stdio: "inherit",
  });
  const exited = once(nginx, "exit");
  const stop = async () => {
    nginx.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true });
  };
  const isReady = async () => (await fetch(url).catch(() => undefined))?.ok;
  await vi.waitUntil(isReady, { timeout: 60_000 }).catch((error) => stop().then(() => Promise.reject(error)));
  /** Removes what `proxy_cache cache` has. */
  const purge = () => {
    for (const name of readdirSync(`${folder}/cache`)) rmSync(`${folder}/cache/${name}`);
  };
  return { url, purge, stop };
}
