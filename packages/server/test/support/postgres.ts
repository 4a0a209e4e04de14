import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { findFreePort } from "react-router-express-server/testing";
import { vi } from "vitest";

/** Debian has a folder for each version. */
const DEBIAN = "/usr/lib/postgresql";

/** A PostgreSQL server that a test can start and stop. Its data stays. */
export async function createPostgres() {
  const [version] = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  if (version === undefined) throw new Error("This test needs Postgres: on Debian, apt-get install postgresql");
  const program = (name: string) => join(DEBIAN, version, "bin", name);
  // Postgres refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"]));
  const user = isRoot ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  const folder = mkdtempSync(join(tmpdir(), "postgres-"));
  if (isRoot) chownSync(folder, idOf("-u"), idOf("-g"));
  const port = await findFreePort();
  const url = `postgres://greeting@127.0.0.1:${port}/postgres`;
  const options = { ...user, cwd: folder };
  execFileSync(program("initdb"), ["-D", folder, "-U", "greeting", "-A", "trust", "--no-sync"], options);

  let child: ChildProcess | undefined;
  const kill = () => child?.kill("SIGQUIT");
  process.once("exit", kill);

  const query = async (text: string) => {
    const client = new Client(url);
    await client.connect();
    const { rows } = await client.query(text);
    await client.end();
    return rows;
  };
  const stop = async () => {
    if (!child) return;
    const exited = once(child, "exit");
    child.kill("SIGINT"); // Closes the connections at once.
    await exited;
    child = undefined;
  };
  return {
    url,
    query,
    async start() {
      if (child) return;
      const settings = ["-D", folder, "-h", "127.0.0.1", "-p", String(port), "-k", "", "-F"];
      child = spawn(program("postgres"), settings, { ...options, stdio: "ignore" });
      await vi.waitFor(() => query("SELECT 1"), { timeout: 60_000 });
    },
    stop,
    async remove() {
      await stop();
      process.off("exit", kill);
      rmSync(folder, { recursive: true });
    },
  };
}

export type Postgres = Awaited<ReturnType<typeof createPostgres>>;
