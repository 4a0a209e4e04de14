import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, expect, vi } from "vitest";

export const MEBIBYTE = 1024 * 1024;

/** The command of the engine: `CONTAINER_ENGINE`, or docker, or podman. */
const ENGINE = process.env.CONTAINER_ENGINE?.split(" ") ?? [["docker"], ["podman"]].find(responds);
if (!ENGINE) throw new Error("These tests need docker or podman, or its command in CONTAINER_ENGINE.");
const [COMMAND = "", ...LEADING] = ENGINE;
/** An image of this commit, if another program has built it. */
export const IMAGE = process.env.CONTAINER_IMAGE ?? "site:test";

function responds([command = ""]: string[]) {
  try {
    execFileSync(command, ["info"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export async function engine(args: string[], input = "") {
  // Podman's default image format has no health check.
  const env = { ...process.env, BUILDAH_FORMAT: "docker" };
  const running = promisify(execFile)(COMMAND, [...LEADING, ...args], { env });
  running.child.stdin?.end(input);
  return (await running).stdout.trim();
}

export const isPodman = (await engine(["--version"])).startsWith("podman");
export const revision = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
export const LOCKED_DOWN = [
  ...["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--pids-limit=64", "--memory=128m"],
  // Podman alone would give a read-only container a writable /tmp.
  ...(isPodman ? ["--read-only-tmpfs=false"] : []),
];

const started: string[] = [];
afterAll(async () => {
  for (const id of started) await engine(["rm", "--force", id]);
});

/** Starts a container. Resolves when it is ready. */
export async function run(...options: string[]) {
  const ports = ["--publish=127.0.0.1::3000", "--publish=127.0.0.1::3001"];
  const id = await engine(["run", "--detach", ...ports, ...options, IMAGE]);
  started.push(id);
  const [url, opsUrl] = [
    `http://${await engine(["port", id, "3000"])}`,
    `http://${await engine(["port", id, "3001"])}`,
  ];
  await vi.waitFor(() => expectStatus(`${opsUrl}/readyz`, 200), { timeout: 30_000 });
  return { id, url, opsUrl };
}

/** Runs a script in the container, and returns its result. The image has no other program. */
export async function evaluate(id: string, script: string) {
  return JSON.parse(await engine(["exec", id, "node", "--print", `JSON.stringify((() => {${script}})())`]));
}

/** The kernel's status of the container's process. */
export function readStatus(id: string): Promise<string> {
  return evaluate(id, 'return fs.readFileSync("/proc/1/status", "utf8")');
}

export async function inspect(id: string) {
  return JSON.parse(await engine(["inspect", id]))[0];
}

/** Builds the image, unless `CONTAINER_IMAGE` is set. */
export async function buildImage() {
  if (process.env.CONTAINER_IMAGE) return;
  await engine(["build", "--quiet", `--build-arg=REVISION=${revision}`, `--tag=${IMAGE}`, "."]);
}

export async function expectStatus(url: string, status: number) {
  expect((await fetch(url)).status).toBe(status);
}
