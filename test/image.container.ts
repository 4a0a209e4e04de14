import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import autocannon from "autocannon";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { version } from "../package.json";

const MEBIBYTE = 1024 * 1024;

/** The command of the engine: `CONTAINER_ENGINE`, or docker or podman, whichever responds. */
const ENGINE = process.env.CONTAINER_ENGINE?.split(" ") ?? [["docker"], ["podman"]].find(responds);
if (!ENGINE) throw new Error("These tests need docker or podman, or its command in CONTAINER_ENGINE.");
const [COMMAND = "", ...LEADING] = ENGINE;
/** An image that is already built from this commit, where the engine alone can't build it. */
const IMAGE = process.env.CONTAINER_IMAGE ?? "greeting:test";

function responds([command = ""]: string[]) {
  try {
    execFileSync(command, ["info"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function engine(args: string[], input = "") {
  // Podman writes its own image format without a health check, unless told otherwise.
  const env = { ...process.env, BUILDAH_FORMAT: "docker" };
  const running = promisify(execFile)(COMMAND, [...LEADING, ...args], { env });
  running.child.stdin?.end(input);
  return (await running).stdout.trim();
}

const isPodman = (await engine(["--version"])).startsWith("podman");
const revision = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
const LOCKED_DOWN = [
  ...["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--pids-limit=64", "--memory=128m"],
  // Podman alone would give a read-only container a writable /tmp.
  ...(isPodman ? ["--read-only-tmpfs=false"] : []),
];

const started: string[] = [];
const pods: string[] = [];
afterAll(async () => {
  for (const id of started) await engine(["rm", "--force", id]);
  for (const id of pods) await engine(["pod", "rm", "--force", id]);
});

/** Starts a container; resolves when it is ready. */
async function run(...options: string[]) {
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

/** Has the kernel forget what it has read of a folder's files. */
function evictFromMemory(folder: string) {
  execFileSync("sync");
  const dd = ["dd", "if={}", "iflag=nocache", "count=0", "status=none"];
  execFileSync("find", [folder, "-type", "f", "-exec", ...dd, ";"]);
}

/** What a script that runs in the container prints: there is no other program to ask. */
async function evaluate(id: string, script: string) {
  return JSON.parse(await engine(["exec", id, "node", "--print", `JSON.stringify((() => {${script}})())`]));
}

/** What the kernel says of the process that the container runs. */
function readStatus(id: string): Promise<string> {
  return evaluate(id, 'return fs.readFileSync("/proc/1/status", "utf8")');
}

async function inspect(id: string) {
  return JSON.parse(await engine(["inspect", id]))[0];
}

let locked: Awaited<ReturnType<typeof run>>;
let open: Awaited<ReturnType<typeof run>>;
beforeAll(async () => {
  if (!process.env.CONTAINER_IMAGE) {
    await engine(["build", "--quiet", `--build-arg=REVISION=${revision}`, `--tag=${IMAGE}`, "."]);
  }
  // As on a machine that has just pulled the image: a memory limit counts what is read from the disk.
  if (isPodman) evictFromMemory(await engine(["image", "mount", IMAGE]));
  locked = await run(...LOCKED_DOWN, "--user=12345:54321");
  open = await run();
}, 900_000);

test.each([
  ["/", 200],
  ["/nope", 404],
])("%s is a page with status %d", async (path, status) => {
  for (const { url } of [open, locked]) {
    const response = await fetch(url + path);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain("<h1>");
  }
});

test("the pages' files are there", async () => {
  const html = await (await fetch(locked.url)).text();
  const files = [...html.matchAll(/(?:src|href)="(\/[^"]+\.[a-z]+)"/g)].map(([, path]) => path);
  expect(files.length).toBeGreaterThan(2);
  for (const path of files) await expectStatus(`${locked.url}${path}`, 200);
});

test.each(["/livez", "/readyz", "/metrics"])("%s is served on the operators' port", async (path) => {
  await expectStatus(locked.opsUrl + path, 200);
});

test("the labels and the metrics name version and revision", async () => {
  const { Labels } = (await inspect(IMAGE)).Config;
  expect(Labels["org.opencontainers.image.version"]).toBe(version);
  expect(Labels["org.opencontainers.image.revision"]).toBe(revision);
  expect(Date.parse(Labels["org.opencontainers.image.created"])).not.toBeNaN();
  for (const name of ["base.name", "documentation", "licenses", "source"]) {
    expect(Labels[`org.opencontainers.image.${name}`], name).toMatch(/./);
  }
  const metrics = await (await fetch(`${locked.opsUrl}/metrics`)).text();
  expect(metrics).toContain(`app_build_info{version="${version}",revision="${revision}"} 1`);
});

test("licences, notices and a bill of materials are in the image", async () => {
  const read = (file: string): Promise<string> =>
    evaluate(locked.id, `return fs.readFileSync(${JSON.stringify(file)}, "utf8")`);
  expect(await read("LICENSE")).toContain("MIT License");
  for (const [file, names] of [
    ["build/server/licenses.md", ["express", "react-dom", "pino"]],
    ["build/client/licenses.md", ["react-dom", "react-router"]],
  ] as const) {
    const notices = await read(file);
    for (const name of names) expect(notices).toMatch(new RegExp(`^## ${name} - \\d`, "m"));
  }
  const { components } = JSON.parse(await read("build/sbom.cdx.json"));
  const names = components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["express", "react-dom", "react-router"]));
  expect(names).not.toContain("vitest");
});

test("the image runs node alone, in production", async () => {
  const { Entrypoint, Cmd, Env, User, ExposedPorts } = (await inspect(IMAGE)).Config;
  expect(Entrypoint.filter((argument: string) => !argument.startsWith("--"))).toEqual([
    "node",
    "build/server/index.js",
  ]);
  expect(Cmd ?? []).toEqual([]);
  expect(Env).toContain("NODE_ENV=production");
  expect(User).toBe("65532");
  expect(Object.keys(ExposedPorts)).toEqual(["3000/tcp", "3001/tcp"]);
  const commandLine: string = await evaluate(locked.id, 'return fs.readFileSync("/proc/1/cmdline", "utf8")');
  expect(commandLine.split("\0").slice(0, Entrypoint.length)).toEqual(Entrypoint);
});

test.each([
  ["by default", () => open, "65532", "65532"],
  ["when told to", () => locked, "12345", "54321"],
])("it is an unprivileged user %s", async (_when, container, uid, gid) => {
  const status = await readStatus(container().id);
  expect(status).toMatch(new RegExp(`^Uid:(\\s+${uid}){4}$`, "m"));
  expect(status).toMatch(new RegExp(`^Gid:(\\s+${gid}){4}$`, "m"));
});

test("the container has no capability and can gain none", async () => {
  const status = await readStatus(locked.id);
  for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
    expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, "m"));
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
});

/** Every path but the kernel's own. */
const WALK = `const walk = (folder) => fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = (folder === "/" ? "" : folder) + "/" + entry.name;
    if (["/proc", "/sys", "/dev"].includes(path)) return [];
    try { return entry.isDirectory() ? [path, ...walk(path)] : [path]; } catch { return [path]; }
  });`;

test("nothing can be written anywhere", async () => {
  const script = `${WALK} return ["/", ...walk("/")].filter((path) => {
    try { fs.accessSync(path, fs.constants.W_OK); return true; } catch { return false; }
  })`;
  expect(await evaluate(locked.id, script)).toEqual([]);
  await expect(evaluate(locked.id, 'fs.writeFileSync(os.tmpdir() + "/file", "")')).rejects.toThrow("EROFS");
});

test("the image has no shell, no npm and no source", async () => {
  const paths: string[] = await evaluate(open.id, `${WALK} return walk("/")`);
  expect(paths).toContain("/app/build/server/index.js");
  expect(paths.filter((path) => /\/(sh|ash|bash|dash|busybox|npm|npx|node_modules)$/.test(path))).toEqual([]);
  expect(paths.filter((path) => /^\/app\/(?!build)/.test(path))).toEqual(["/app/LICENSE"]);
  await expect(engine(["exec", open.id, "sh", "-c", "true"])).rejects.toThrow();
});

test("the image adds less than 3.5 MB to its base", async () => {
  const base = /^ARG RUNTIME_IMAGE=(.+)$/m.exec(readFileSync("Dockerfile", "utf8"))?.[1] as string;
  const images = await engine(["images", "--format={{.Repository}}:{{.Tag}}"]);
  if (!images.includes(base)) await engine(["pull", base]);
  const added = (await inspect(IMAGE)).Size - (await inspect(base)).Size;
  expect(added).toBeGreaterThan(0);
  expect(added).toBeLessThan(3_500_000);
});

test("the health check follows readiness", async () => {
  const { Test } = (await inspect(locked.id)).Config.Healthcheck;
  expect(Test[0]).toBe("CMD");
  // Podman leaves the timing to systemd, which a machine may lack.
  if (isPodman) await engine(["healthcheck", "run", locked.id]);
  await vi.waitFor(async () => expect((await inspect(locked.id)).State.Health.Status).toBe("healthy"), {
    timeout: 30_000,
  });
  const check = (...options: string[]) => engine(["exec", ...options, locked.id, ...Test.slice(1)]);
  await check();
  await expect(check("--env=OPS_PORT=1")).rejects.toThrow("ECONNREFUSED");
  // It asks where the server listens.
  await expect(check("--env=HOST=127.0.0.2", "--env=OPS_PORT=1")).rejects.toThrow("127.0.0.2:1");
  await expect(check("--env=HOST=127.0.0.2", "--env=OPS_HOST=::1", "--env=OPS_PORT=1")).rejects.toThrow("::1:1");
  await check("--env=OPS_PORT=0");
  await expect(check("--env=OPS_PORT=0", "--env=PORT=1")).rejects.toThrow("127.0.0.1:1");
});

test("a run leaves no files behind", async () => {
  const script = 'return fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name) && name != process.pid)';
  expect(await evaluate(locked.id, script)).toEqual(["1"]);
});

test("20,000 requests are handled in 128 MiB", async () => {
  for (const path of ["/", "/nope", "/?q=1", "/assets/none.js"]) {
    const { errors, timeouts, ...result } = await autocannon({
      url: locked.url + path,
      connections: 100,
      amount: 5000,
      headers: { "Accept-Encoding": "br" },
    });
    expect({ path, errors, timeouts, handled: result["2xx"] + result["4xx"] }).toEqual({
      path,
      errors: 0,
      timeouts: 0,
      handled: 5000,
    });
  }
  const { State, HostConfig } = await inspect(locked.id);
  expect(HostConfig.Memory).toBe(128 * MEBIBYTE);
  expect(State).toMatchObject({ Running: true, OOMKilled: false });
});

test("an idle container stops within a second, with exit code 0", async () => {
  await engine(["stop", "--time=10", locked.id]);
  const { State } = await inspect(locked.id);
  // Podman's tail splits lines of a busy moment, so only the one that is looked for is parsed.
  const lines = (await engine(["logs", "--tail=20", locked.id])).split("\n");
  const stopping = JSON.parse(lines.find((line) => line.includes('"reason":"SIGTERM"')) as string);
  expect(State).toMatchObject({ ExitCode: 0, OOMKilled: false });
  expect(Date.parse(State.FinishedAt) - Date.parse(stopping.time)).toBeLessThan(1000);
});

test.runIf(isPodman)("of two replicas of the Deployment one serves while the other stops", async () => {
  const [deployment] = parseAllDocuments(readFileSync("deploy/kubernetes.yaml", "utf8")).map((it) => it.toJS());
  const [container] = deployment.spec.template.spec.containers;
  container.image = IMAGE;
  // Podman would ask with curl, which the image lacks.
  for (const name of ["startupProbe", "livenessProbe"]) delete container[name];
  const replicas: { id: string; url: string; opsUrl: string }[] = [];
  for (const name of ["greeting-test-1", "greeting-test-2"]) {
    const [port, opsPort] = [await findFreePort(), await findFreePort()];
    deployment.metadata.name = name;
    [container.ports[0].hostPort, container.ports[1].hostPort] = [port, opsPort];
    const output = await engine(["kube", "play", "--replace", "-"], stringify(deployment));
    pods.push(/Pod:\n(\w+)/.exec(output)?.[1] as string);
    const id = /Container:\n(\w+)/.exec(output)?.[1] as string;
    replicas.push({ id, url: `http://127.0.0.1:${port}`, opsUrl: `http://127.0.0.1:${opsPort}` });
  }
  for (const { id, url, opsUrl } of replicas) {
    await vi.waitFor(() => expectStatus(`${opsUrl}/readyz`, 200), { timeout: 30_000 });
    await expectStatus(url, 200);
    expect((await inspect(id)).HostConfig).toMatchObject({ ReadonlyRootfs: true, Memory: 128 * MEBIBYTE });
    expect(await readStatus(id)).toMatch(/^CapBnd:\s+0+\n(.+\n)*NoNewPrivs:\s+1\nSeccomp:\s+2$/m);
  }

  const [stopping, staying] = replicas as [(typeof replicas)[0], (typeof replicas)[0]];
  const stopped = engine(["stop", "--time=20", stopping.id]);
  await vi.waitFor(() => expectStatus(`${stopping.opsUrl}/readyz`, 503), { timeout: 4000 });
  await expectStatus(stopping.url, 200); // Until every node has heard that it is going.
  await expectStatus(`${staying.opsUrl}/readyz`, 200);
  await expectStatus(staying.url, 200);
  await stopped;
  expect((await inspect(stopping.id)).State.ExitCode).toBe(0);
});

async function expectStatus(url: string, status: number) {
  expect((await fetch(url)).status).toBe(status);
}

async function findFreePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
