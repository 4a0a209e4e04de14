// Measures this server beside a bare one that sends the same bytes, and beside itself without
// kept pages. Figures are medians of interleaved rounds; needs Linux and Chromium.
// BENCH_ROUNDS (5) and BENCH_SECONDS (5) make it longer or shorter.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import autocannon from "autocannon";
import { launchChromium } from "../test/support/chromium.ts";
import { build, copyProject } from "../test/support/copy-project.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const STARTS = 7;
const CONNECTIONS = 64;
const CODING = { "accept-encoding": "br" };
const UNKNOWN = Array.from({ length: 100 }, (_, i) => `/unknown/${i}`);
const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"]));

type Target = { name: string; command: string[] };
type Running = { child: ChildProcess; pid: number; url: string };

/** The same app, whose routes don't say that they are kept. Returns its folder. */
async function buildWithoutPageCache() {
  const copy = copyProject();
  for (const route of ["home", "not-found"]) {
    const file = join(copy, `app/routes/${route}.tsx`);
    const source = readFileSync(file, "utf8");
    const changed = source.replace("renderOnce: true", "renderOnce: false").replaceAll(/ s-maxage=\d+,/g, "");
    if (changed === source) throw new Error(`${file} is not kept`);
    writeFileSync(file, changed);
  }
  await build(copy);
  return copy;
}

async function send(url: string) {
  const [response] = (await once(get(url, { headers: CODING, agent: false }), "response")) as [IncomingMessage];
  return { response, body: await buffer(response) };
}

/** Has the bare server send what this one sends. */
async function saveResponses(url: string, file: string) {
  const save = async (path: string) => {
    const { response, body } = await send(url + path);
    const headers = Object.fromEntries(
      Object.entries(response.headers).filter(([name]) => !["date", "connection", "keep-alive"].includes(name)),
    );
    return { status: response.statusCode, headers, body: body.toString("base64") };
  };
  writeFileSync(file, JSON.stringify({ home: await save("/"), notFound: await save("/unknown") }));
}

async function start({ command }: Target): Promise<Running> {
  const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0" };
  const child = spawn(process.execPath, command, { env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  const port = await new Promise<number>((found) => {
    child.stdout.on("data", function findPort(chunk) {
      output += chunk;
      const ready = output.split("\n").find((line) => line.includes('"ready"') && line.endsWith("}"));
      if (ready === undefined) return;
      child.stdout.off("data", findPort).resume(); // As a collector of logs reads on.
      found(JSON.parse(ready).port);
    });
  });
  return { child, pid: child.pid as number, url: `http://127.0.0.1:${port}` };
}

async function stop({ child }: Running) {
  child.kill("SIGTERM");
  await once(child, "exit");
}

function cpuSeconds(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentMiB(pid: number) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

async function load({ pid, url }: Running, paths: string[], duration: number) {
  const before = cpuSeconds(pid);
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration,
    headers: CODING,
    requests: paths.map((path) => ({ path })),
  });
  if (result.errors > 0) throw new Error(`${result.errors} requests failed`);
  const served = result.requests.total;
  return { perSecond: served / result.duration, cpuMicroseconds: ((cpuSeconds(pid) - before) / served) * 1e6 };
}

/** From starting the process to its first response, in ms. */
async function measureStart(target: Target) {
  const startedAt = performance.now();
  const running = await start(target);
  await send(running.url);
  const took = performance.now() - startedAt;
  await stop(running);
  return took;
}

/** What a first visit takes before it shows anything: the document, and what blocks rendering. */
async function measureFirstPaint({ url }: Running) {
  const browser = await launchChromium();
  const page = await browser.newPage();
  await page.goto(url, { waitUntil: "networkidle" });
  const measured = await page.evaluate(() => {
    const blocking = performance
      .getEntriesByType("resource")
      .filter((entry) => (entry as unknown as { renderBlockingStatus: string }).renderBlockingStatus === "blocking");
    const [document] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    const all = [document, ...blocking] as PerformanceResourceTiming[];
    return { requests: all.length, bytes: all.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) };
  });
  await browser.close();
  return measured;
}

const samples = new Map<string, number[]>();
const record = (name: string, metric: string, value: number) => {
  const key = `${name}/${metric}`;
  samples.set(key, [...(samples.get(key) ?? []), value]);
};
function median(name: string, metric: string) {
  const sorted = (samples.get(`${name}/${metric}`) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

await build(".");
const everyRequest = await buildWithoutPageCache();
const responses = join(everyRequest, "responses.json");
const shipped: Target = { name: "this server", command: [resolve("build/server/index.js")] };
const targets: Target[] = [
  shipped,
  { name: "bare node:http", command: [resolve("bench/bare-server.mjs"), responses] },
  { name: "rendering every request", command: [join(everyRequest, "build/server/index.js")] },
];
const model = await start(shipped);
await saveResponses(model.url, responses);
const firstPaint = await measureFirstPaint(model);
await stop(model);

for (let i = 0; i < STARTS; i++) {
  for (const target of targets) record(target.name, "start", await measureStart(target));
}

const running = new Map<string, Running>();
for (const target of targets) running.set(target.name, await start(target));
for (const [name, one] of running) {
  record(name, "idle", residentMiB(one.pid));
  await load(one, ["/", ...UNKNOWN], 2);
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, one] of running) {
    for (const [kind, paths] of [
      ["/", ["/"]],
      ["unknown", UNKNOWN],
    ] as const) {
      const { perSecond, cpuMicroseconds } = await load(one, [...paths], SECONDS);
      record(name, `${kind} rate`, perSecond);
      record(name, `${kind} cpu`, cpuMicroseconds);
    }
    record(name, "loaded", residentMiB(one.pid));
  }
}
for (const one of running.values()) await stop(one);
rmSync(everyRequest, { recursive: true });

const columns = [
  ["requests/s on /", "/ rate"],
  ["CPU µs per request on /", "/ cpu"],
  ["requests/s on unknown", "unknown rate"],
  ["CPU µs per request on unknown", "unknown cpu"],
  ["start to first 200, ms", "start"],
  ["MiB idle", "idle"],
  ["MiB under load", "loaded"],
] as const;
console.log(
  `Node ${process.versions.node}, medians of ${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, brotli.`,
);
console.log("In brackets: against bare node:http.\n");
console.log(`| | ${targets.map(({ name }) => name).join(" | ")} |`);
console.log(`|---|${targets.map(() => "---:|").join("")}`);
for (const [label, metric] of columns) {
  const floor = median("bare node:http", metric);
  const cells = targets.map(({ name }) => {
    const value = median(name, metric);
    return `${value < 100 ? value.toFixed(1) : Math.round(value)} (${(value / floor).toFixed(2)}×)`;
  });
  console.log(`| ${label} | ${cells.join(" | ")} |`);
}
console.log(`\nTo first paint: ${firstPaint.requests} request, ${firstPaint.bytes} bytes of body.`);
