import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findFreePort } from "react-router-express-server/testing";
import { vi } from "vitest";

/** Debian has a folder for each version. */
const DEBIAN = "/usr/lib/postgresql";

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });

const waitFor = (port: number) => vi.waitUntil(() => isOpen(port), { timeout: 120_000 });

async function startRedis() {
  const port = await findFreePort();
  const child = spawn("redis-server", ["--port", String(port), "--save", ""], { stdio: "ignore" });
  await waitFor(port);
  return { url: `redis://127.0.0.1:${port}`, stop: () => void child.kill("SIGKILL") };
}

async function startPostgres() {
  const [version] = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  if (version === undefined) throw new Error("This test needs Postgres: on Debian, apt-get install postgresql");
  // Postgres refuses to run as root.
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"]));
  const user = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  // In the folder above: that of the tests is closed to other users.
  const folder = mkdtempSync(join(dirname(tmpdir()), "postgres-"));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const port = await findFreePort();
  const options = { ...user, cwd: folder, stdio: "ignore" as const };
  execFileSync(join(DEBIAN, version, "bin/initdb"), ["-D", folder, "-U", "site", "-A", "trust", "--no-sync"], options);
  const settings = ["-D", folder, "-h", "127.0.0.1", "-p", String(port), "-k", "", "-F"];
  const child = spawn(join(DEBIAN, version, "bin/postgres"), settings, options);
  await waitFor(port);
  const stop = () => {
    child.once("exit", () => rmSync(folder, { recursive: true }));
    child.kill("SIGQUIT");
  };
  return { url: `postgres://site@127.0.0.1:${port}/postgres`, stop };
}

/** Responds as other services do, and collects the paths of requests. */
async function startOther() {
  const paths: string[] = [];
  const server = createServer((req, res) => {
    paths.push(req.url ?? "");
    res.setHeader("Content-Type", "application/json").end('{"id":"from another service"}');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths, stop: () => void server.close() };
}

/** Starts a Redis, a Postgres, and a server for what packages send to other sites. */
export async function startServices() {
  const [redis, postgres, other] = await Promise.all([startRedis(), startPostgres(), startOther()]);
  const stop = () => {
    for (const service of [redis, postgres, other]) service.stop();
  };
  return { env: { REDIS_URL: redis.url, DATABASE_URL: postgres.url, OTHER_URL: other.url }, paths: other.paths, stop };
}
