// Measures this server beside a bare one that sends the same bytes, and beside itself without
// cached pages, also with 300 routes. Figures are medians of interleaved rounds; needs Linux and Chromium.
// BENCH_ROUNDS (5) and BENCH_SECONDS (5) make it longer or shorter.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "../test/support/build.ts";
import { copySite } from "../test/support/copy-site.ts";
import { SITE } from "../test/support/site.ts";
import { type ClientRequest, CONNECTIONS, GENERATOR, load } from "./load.ts";
import { measureStart, type Running, residentMiB, send, start, stop, type Target } from "./servers.ts";
import { recordVisits } from "./visits.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const STARTS = 7;
/** A large app's number of routes. This app has 3, with the root. */
const MANY_ROUTES = 300;

/** Builds the same site without cached pages, and with more pages. Returns its folder. */
async function buildWithoutPageCache(morePages = 0) {
  const copy = copySite();
  for (const name of ["home", "not-found"]) {
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

/** Saves this server's responses for the bare one. Returns the bytes of each, with its headers. */
async function saveResponses(url: string, requests: ClientRequest[], file: string) {
  const sizes = new Map<ClientRequest, number>();
  const save = async (request: ClientRequest) => {
    const { response, body } = await send(url + request.path, request.headers);
    const head = response.rawHeaders.map((text) => text.length + 2); // ": " or the end of the line.
    sizes.set(
      request,
      head.reduce((sum, length) => sum + length, "HTTP/1.1 200 OK\r\n\r\n".length + body.length),
    );
    const headers = Object.fromEntries(
      Object.entries(response.headers).filter(([name]) => !["date", "connection", "keep-alive"].includes(name)),
    );
    const key = request.headers["if-none-match"] ? `${request.path} revalidated` : request.path;
    return [key, { status: response.statusCode, headers, body: body.toString("base64") }] as const;
  };
  const responses = Object.fromEntries(await Promise.all(requests.map(save)));
  writeFileSync(file, JSON.stringify({ responses, notFound: responses["/unknown/0"] }));
  return sizes;
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

await build(SITE);
const everyRequest = await buildWithoutPageCache();
const manyRoutes = await buildWithoutPageCache(MANY_ROUTES - 3);
const responses = join(everyRequest, "responses.json");
const shipped: Target = { name: "this server", command: [join(SITE, "build/server/index.js")] };
const targets: Target[] = [
  shipped,
  { name: "bare node:http", command: [join(import.meta.dirname, "bare-server.mjs"), responses] },
  { name: "rendering every request", command: [join(everyRequest, "build/server/index.js")] },
];
const model = await start(shipped);
const visits = await recordVisits(model.url);
const [document] = visits.first as [ClientRequest];
const unknown = Array.from({ length: 100 }, (_, i) => ({ ...document, path: `/unknown/${i}` }));
const sizes = await saveResponses(
  model.url,
  [...visits.first, ...visits.repeat, unknown[0] as ClientRequest],
  responses,
);
await stop(model);

const loads = { "/": [document], unknown, "first visit": visits.first, "repeat visit": visits.repeat };
/** The number of requests of a visit. The CPU time of other loads is per request. */
const units: Record<string, number> = { "first visit": visits.first.length, "repeat visit": visits.repeat.length };

for (let i = 0; i < STARTS; i++) {
  for (const target of targets) record(target.name, "start", await measureStart(target));
}

const running = new Map<string, Running>();
for (const target of targets) running.set(target.name, await start(target));
for (const [name, one] of running) {
  record(name, "idle", residentMiB(one));
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
    for (const [kind, requests] of Object.entries(loads)) {
      const { perSecond, cpuMicroseconds } = await load(one, requests, SECONDS);
      record(name, `${kind} rate`, perSecond);
      record(name, `${kind} cpu`, cpuMicroseconds * (units[kind] ?? 1));
    }
    record(name, "loaded", residentMiB(one));
  }
  for (const [name, one] of rendering) record(name, "/ cpu", (await load(one, [document], SECONDS)).cpuMicroseconds);
}
for (const one of [...running.values(), ...rendering.values()]) await stop(one);
for (const folder of [everyRequest, manyRoutes]) rmSync(folder, { recursive: true });

const columns = [
  ["requests/s on /", "/ rate"],
  ["CPU µs per request on /", "/ cpu"],
  ["requests/s on unknown", "unknown rate"],
  ["CPU µs per request on unknown", "unknown cpu"],
  ["CPU µs per first visit", "first visit cpu"],
  ["CPU µs per repeat visit", "repeat visit cpu"],
  ["start to first 200, ms", "start"],
  ["MiB idle", "idle"],
  ["MiB under load", "loaded"],
] as const;
console.log(
  `Node ${process.versions.node}, medians of ${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections of ${GENERATOR}.`,
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
const rendered = median("many routes", "/ cpu");
const ratio = rendered / median("few routes", "/ cpu");
console.log(
  `\nCPU µs per rendered / with ${MANY_ROUTES} routes: ${Math.round(rendered)} (${ratio.toFixed(2)}× that with 3)`,
);
for (const [name, requests] of Object.entries(visits)) {
  const bytes = requests.reduce((sum, request) => sum + (sizes.get(request) ?? 0), 0);
  console.log(`\nA ${name} visit: ${requests.length} requests, ${bytes} bytes with headers.`);
  console.log(requests.map((request) => `  ${request.path} ${sizes.get(request)}`).join("\n"));
}
