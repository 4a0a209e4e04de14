// Writes docs/comparison.md: this server beside a bare one that sends the same bytes, beside itself without cached
// pages, also with 300 routes, and beside React Router's template. Figures are medians of interleaved rounds. It needs
// Linux, Chromium and npm's registry, and root to limit memory. BENCH_ROUNDS (5) and BENCH_SECONDS (2) make it longer or
// shorter.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import engine from "../package.json" with { type: "json" };
import { build } from "../test/support/build.ts";
import { copySite } from "../test/support/copy-site.ts";
import { readNodeFlags } from "../test/support/node-flags.ts";
import { createTemplate } from "./create-template.ts";
import { type ClientRequest, CONNECTIONS, GENERATOR, load } from "./load.ts";
import { CLIENTS, findSurvivedClients, LIMIT_MIB, measureUsedMiB } from "./memory-limit.ts";
import { measureStart, type Running, residentMiB, send, start, stop, type Target } from "./servers.ts";
import { measureFirstVisit } from "./slow-link.ts";
import { recordVisits } from "./visits.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);
const STARTS = ROUNDS + 2;
const SURVIVALS = Math.ceil(ROUNDS / 2);
/** A large app's number of routes. This app has 3, with the root. */
const MANY_ROUTES = 300;

const { "@react-router/node": version, react } = engine.devDependencies;

/** Builds the test site's home and not-found page alone, or with more pages. Returns the site's folder. */
async function buildSite({ isCached = false, morePages = 0 }) {
  const copy = copySite();
  for (const name of isCached ? [] : ["home", "not-found"]) {
    const file = join(copy, `app/routes/${name}.tsx`);
    const source = readFileSync(file, "utf8");
    writeFileSync(file, source.replace(/^export const (headers|handle) = .*\n/gm, ""));
  }
  const names = Array.from({ length: morePages }, (_, i) => `page-${i}`);
  for (const name of names) writeFileSync(join(copy, `app/${name}.tsx`), "export default () => <h1>Hello</h1>;");
  const lines = names.map((name) => `route("${name}", "${name}.tsx"),`);
  writeFileSync(
    join(copy, "app/routes.ts"),
    `import { route } from "@react-router/dev/routes";
    export default [
      ${lines.join("")}
      route("/", "routes/home.tsx", { id: "home", index: true }),
      route("*", "routes/not-found.tsx", { id: "404" }),
    ];`,
  );
  await build(copy);
  return copy;
}

/** Builds React Router's template. Returns its folder. */
async function buildTemplate() {
  const folder = await createTemplate();
  await build(folder, { NODE_ENV: "production" }); // Vite has set another one in this process.
  return folder;
}

/** Saves this server's responses for the bare one. */
async function saveResponses(url: string, requests: ClientRequest[], file: string) {
  const save = async (request: ClientRequest) => {
    const { response, body } = await send(url + request.path, request.headers);
    const headers = Object.fromEntries(
      Object.entries(response.headers).filter(([name]) => !["date", "connection", "keep-alive"].includes(name)),
    );
    const key = request.headers["if-none-match"] ? `${request.path} revalidated` : request.path;
    return [key, { status: response.statusCode, headers, body: body.toString("base64") }] as const;
  };
  const responses = Object.fromEntries(await Promise.all(requests.map(save)));
  writeFileSync(file, JSON.stringify({ responses, notFound: responses["/unknown/0"] }));
}

/** The bytes of the responses, with their heads. */
async function countBytes(url: string, requests: ClientRequest[]) {
  const count = async ({ path, headers }: ClientRequest) => {
    const { response, body } = await send(url + path, headers);
    const fields = response.rawHeaders.map((text) => text.length + 2); // ": " or the end of the line.
    return fields.reduce((sum, length) => sum + length, "HTTP/1.1 200 OK\r\n\r\n".length + body.length);
  };
  return (await Promise.all(requests.map(count))).reduce((sum, bytes) => sum + bytes, 0);
}

const samples = new Map<string, number[]>();
const record = (name: string, metric: string, value?: number) => {
  if (value === undefined) return;
  const key = `${name}/${metric}`;
  samples.set(key, [...(samples.get(key) ?? []), value]);
};
function median(name: string, metric: string) {
  const sorted = (samples.get(`${name}/${metric}`) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const cached = await buildSite({ isCached: true });
const everyRequest = await buildSite({});
const manyRoutes = await buildSite({ morePages: MANY_ROUTES - 3 });
const template = await buildTemplate();
const responses = join(everyRequest, "responses.json");
const BARE = "bare `node:http`";
const limitedFlags = readNodeFlags(LIMIT_MIB); // The template's image has none.
const shipped: Target = { name: "this server", command: [join(cached, "build/server/index.js")], limitedFlags };
const targets: Target[] = [
  shipped,
  { name: BARE, command: [join(import.meta.dirname, "bare-server.mjs"), responses], limitedFlags },
  {
    name: "this server without its cache",
    command: [join(everyRequest, "build/server/index.js")],
    limitedFlags,
  },
  {
    name: `\`react-router-serve\` ${version}`,
    command: ["node_modules/@react-router/serve/bin.js", "build/server/index.js"],
    cwd: template,
  },
];
const model = await start(shipped);
const visits = await recordVisits(model.url);
const [document] = visits.first as [ClientRequest];
const unknown = Array.from({ length: 100 }, (_, i) => ({ ...document, path: `/unknown/${i}` }));
const requests = [...visits.first, ...visits.repeat, unknown[0] as ClientRequest];
await saveResponses(model.url, requests, responses);
await stop(model);

for (let i = 0; i < STARTS; i++) {
  for (const target of targets) record(target.name, "start", await measureStart(target));
}

for (const target of targets) {
  const { idle, loaded } = await measureUsedMiB(target, [document], ROUNDS * SECONDS);
  record(target.name, "idle", idle);
  record(target.name, "used", loaded);
  for (let i = 0; i < SURVIVALS; i++) record(target.name, "survived", await findSurvivedClients(target, SECONDS));
}

const running = new Map<string, Running>();
const loads = new Map<string, Record<string, ClientRequest[]>>();
for (const target of targets) {
  const { name } = target;
  const one = await start(target);
  running.set(name, one);
  const { first, repeat } = name === BARE ? visits : await recordVisits(one.url);
  loads.set(name, { "/": [document], unknown, first, repeat });
  for (const [kind, requests] of Object.entries({ first, repeat })) {
    record(name, `${kind} requests`, requests.length);
    record(name, `${kind} KB`, (await countBytes(one.url, requests)) / 1000);
  }
  await load(one, [document, ...unknown], 2);
}
// Both are new processes, since V8 optimizes a process that has rendered more pages better.
const rendering = new Map<string, Running>();
for (const [name, folder] of Object.entries({ "few routes": everyRequest, "many routes": manyRoutes })) {
  const one = await start({ name, command: [join(folder, "build/server/index.js")] });
  rendering.set(name, one);
  await load(one, [document], SECONDS);
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, one] of running) {
    const { paint, hydrated } = await measureFirstVisit(one.url);
    record(name, "paint", paint);
    record(name, "hydrated", hydrated);
    for (const [kind, requests] of Object.entries(loads.get(name) ?? {})) {
      const { perSecond, cpuMicroseconds } = await load(one, requests, SECONDS);
      record(name, `${kind} rate`, perSecond);
      // A visit has several requests.
      record(name, `${kind} cpu`, cpuMicroseconds * (kind === "first" || kind === "repeat" ? requests.length : 1));
    }
    record(name, "loaded", residentMiB(one));
  }
  for (const [name, one] of rendering) record(name, "/ cpu", (await load(one, [document], SECONDS)).cpuMicroseconds);
}
for (const one of [...running.values(), ...rendering.values()]) await stop(one);
for (const folder of [cached, everyRequest, manyRoutes, template]) rmSync(folder, { recursive: true });

const columns = [
  ["CPU µs per request on `/`", "/ cpu"],
  ["CPU µs per request on unknown paths", "unknown cpu"],
  ["CPU µs per first visit", "first cpu"],
  ["CPU µs per repeat visit", "repeat cpu"],
  ["requests per second on `/`", "/ rate"],
  ["start to first response, ms", "start"],
  [`MiB idle, of ${LIMIT_MIB} MiB`, "idle"],
  [`MiB after a load on \`/\`, of ${LIMIT_MIB} MiB`, "used"],
  ["MiB under load, without a limit", "loaded"],
  [`survived of ${CLIENTS.at(-1)?.toLocaleString("en")} clients that read nothing, with ${LIMIT_MIB} MiB`, "survived"],
  ["requests of a first visit", "first requests"],
  ["KB of a first visit, with headers", "first KB"],
  ["requests of a repeat visit", "repeat requests"],
  ["KB of a repeat visit, with headers", "repeat KB"],
  ["first paint on a slow link, ms", "paint"],
  ["hydrated on a slow link, ms", "hydrated"],
] as const;

function format(value: number) {
  if (Number.isNaN(value)) return "out of memory";
  return value < 100 ? String(Number(value.toFixed(1))) : Math.round(value).toLocaleString("en");
}
const measured = columns.filter(([, metric]) => samples.has(`${shipped.name}/${metric}`));
const rows = measured.map(([label, metric]) => {
  const own = median(shipped.name, metric);
  const cells = targets.map(({ name }) => {
    const value = median(name, metric);
    return name === shipped.name || Number.isNaN(value)
      ? format(value)
      : `${format(value)} (${Number((value / own).toPrecision(2))}×)`;
  });
  return `| ${[label, ...cells].join(" | ")} |`;
});
const ratio = median("many routes", "/ cpu") / median("few routes", "/ cpu");
const page = `# Comparison

\`npm run bench\` measures and writes this page. Four servers have the same two pages: this one, with the access log and
the metrics on; a bare \`node:http\` server that sends the same bytes; this one without its cache, which renders and
compresses each response; and React Router's template with its server. Each request has Chromium's headers. A slow link has
150 ms of latency and 1.6 Mbit/s. With 128 MiB, React Router's template starts without flags of Node, as in its own
image, the others with those of this server's image. Figures in brackets compare with this server.

CPU times, rates and memory without a limit are medians of ${ROUNDS} interleaved rounds of ${SECONDS} s with ${CONNECTIONS} connections of
${GENERATOR}. Memory after a load is that after ${ROUNDS * SECONDS} s of the same, once. The last two rows are medians of ${ROUNDS} visits, and starts
of ${STARTS}. Of the clients that read nothing, ${CLIENTS.slice(0, -1).join(", ")} and ${CLIENTS.at(-1)?.toLocaleString("en")} were tried: the median of ${SURVIVALS} trials.

The plots show rows of the table.

![Bars of the CPU time per request: the table's first row](plots/cpu-per-request.svg)
![Bars of the first paint on a slow link: the table's last row but one](plots/first-paint.svg)
![Bars of the memory after a load, of 128 MiB, which ends the template's server](plots/memory.svg)
![Bars of the clients that read nothing, and that each server survives](plots/slow-clients.svg)

| | ${targets.map(({ name }) => name).join(" | ")} |
|---|${targets.map(() => "---:|").join("")}
${rows.join("\n")}

With ${MANY_ROUTES} routes, a rendered page takes ${ratio.toFixed(2)} times the CPU time that it takes with 3.

Measured on ${new Date().toISOString().slice(0, 10)}: Node ${process.versions.node}, React Router ${version}, React ${react}, Express ${engine.devDependencies.express}; ${cpus()[0]?.model.trim()}.
`;
const file = join(import.meta.dirname, "../docs/comparison.md");
writeFileSync(file, page);
await import("./plots.ts");
console.log(readFileSync(file, "utf8"));
