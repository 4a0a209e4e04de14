import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { beforeAll, expect, test, vi } from "vitest";
import { version } from "../package.json";
import {
  buildImage,
  engine,
  evaluate,
  expectStatus,
  IMAGE,
  inspect,
  isPodman,
  LOCKED_DOWN,
  MEBIBYTE,
  readStatus,
  revision,
  run,
} from "./support/container.ts";

/** Removes a folder's files from the kernel's page cache. */
function evictFromMemory(folder: string) {
  execFileSync("sync");
  const dd = ["dd", "if={}", "iflag=nocache", "count=0", "status=none"];
  execFileSync("find", [folder, "-type", "f", "-exec", ...dd, ";"]);
}

let locked: Awaited<ReturnType<typeof run>>;
let open: Awaited<ReturnType<typeof run>>;
beforeAll(async () => {
  await buildImage();
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

test("the files that home links to are served", async () => {
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
  for (const name of ["vite", "vitest"]) expect(names).not.toContain(name);
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
  ["with --user", () => locked, "12345", "54321"],
])("the process runs as an unprivileged user %s", async (_when, container, uid, gid) => {
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

/** Lists every path except the kernel's own. */
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
  // Podman's timing needs systemd, which a machine may lack.
  if (isPodman) await engine(["healthcheck", "run", locked.id]);
  await vi.waitFor(async () => expect((await inspect(locked.id)).State.Health.Status).toBe("healthy"), {
    timeout: 30_000,
  });
  const check = (...options: string[]) => engine(["exec", ...options, locked.id, ...Test.slice(1)]);
  await check();
  await expect(check("--env=OPS_PORT=1")).rejects.toThrow("ECONNREFUSED");
  // It connects to the address that the server listens on.
  await expect(check("--env=HOST=127.0.0.2", "--env=OPS_PORT=1")).rejects.toThrow("127.0.0.2:1");
  await expect(check("--env=HOST=127.0.0.2", "--env=OPS_HOST=::1", "--env=OPS_PORT=1")).rejects.toThrow("::1:1");
  await check("--env=OPS_PORT=0");
  await expect(check("--env=OPS_PORT=0", "--env=PORT=1")).rejects.toThrow("127.0.0.1:1");
});

test("the server is the only process in the container", async () => {
  const script = 'return fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name) && name != process.pid)';
  expect(await evaluate(locked.id, script)).toEqual(["1"]);
});

/** Sends requests one after the other, and resolves with their statuses. Rejects if one gets no response. */
async function send(url: string, count: number) {
  const statuses: number[] = [];
  for (let sent = 0; sent < count; sent++) {
    const response = await fetch(url, { headers: { "Accept-Encoding": "br" } });
    await response.arrayBuffer();
    statuses.push(response.status);
  }
  return statuses;
}

test("20,000 requests are handled in 128 MiB", async () => {
  for (const path of ["/", "/nope", "/?q=1", "/assets/none.js"]) {
    const statuses = await Promise.all(Array.from({ length: 100 }, () => send(locked.url + path, 50)));
    expect({ path, handled: statuses.flat().filter((status) => status < 500).length }).toEqual({ path, handled: 5000 });
  }
  const { State, HostConfig } = await inspect(locked.id);
  expect(HostConfig.Memory).toBe(128 * MEBIBYTE);
  expect(State).toMatchObject({ Running: true, OOMKilled: false });
});

test("an idle container stops within a second, with exit code 0", async () => {
  await engine(["stop", "--time=10", locked.id]);
  const { State } = await inspect(locked.id);
  // Podman's tail may split lines, so only this one is parsed.
  const lines = (await engine(["logs", "--tail=20", locked.id])).split("\n");
  const stopping = JSON.parse(lines.find((line) => line.includes('"reason":"SIGTERM"')) as string);
  expect(State).toMatchObject({ ExitCode: 0, OOMKilled: false });
  expect(Date.parse(State.FinishedAt) - Date.parse(stopping.time)).toBeLessThan(1000);
});
