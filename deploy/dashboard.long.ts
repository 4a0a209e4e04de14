// The dashboard's queries, evaluated by a real Prometheus (Debian's package prometheus) on two processes with load and with
// failures. `SCREENSHOTS=FOLDER` draws the panels into FOLDER/dashboard.jpg.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { findFreePort, type RunningServer, startServer } from "react-router-express-server/testing";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { run } from "../test/support/packed-engine.ts";
import { type Drawing, drawDashboard, type Panel, type Series } from "./draw-dashboard.ts";

const HEALTHY = [
  "/",
  "/example-pages/prices",
  "/example-pages/about",
  "/example-pages/form",
  "/nowhere",
  "/robots.txt",
];
const FAILING = ["/example-pages/broken/loader", "/example-pages/broken/component", "/assets/missing.js"];
/** The site has no cache channel, no slow responses, and no visitors who leave after a second. */
const MAY_BE_EMPTY = ["cache channel", "slow {{http_route}}", "left {{http_route}}"];
/** Seconds of load before there are failures, and with them. */
const PHASE = 45;
/** Four times the interval of the scrapes, as Grafana computes it. */
const RATE_INTERVAL = "4s";

const { panels }: { panels: Panel[] } = JSON.parse(readFileSync("deploy/dashboard.json", "utf8"));
const folder = mkdtempSync(join(tmpdir(), "prometheus-"));
let servers: RunningServer[];
let prometheus: string;
let stopPrometheus: (() => Promise<void>) | undefined;
/** Each second of the load, as Unix times. */
const times: number[] = [];
const drawn: Drawing["panels"] = [];
/** The legends of the queries without data. */
const empty: string[] = [];
const hasData = ({ values }: Series) => values.some((value) => value !== null);

async function startPrometheus() {
  const port = await findFreePort();
  const targets = servers.map(({ opsUrl }) => new URL(opsUrl).host);
  const config = readFileSync("deploy/prometheus.yaml", "utf8")
    .replace("alerts.yaml", resolve("deploy/alerts.yaml"))
    .replace("15s", "1s")
    .replace(/targets: .*/, `targets: [${targets.map((target) => `"${target}"`)}]`);
  writeFileSync(`${folder}/prometheus.yaml`, `global: { evaluation_interval: 1s }\n${config}`);
  const options = [
    "--config.file=prometheus.yaml",
    "--storage.tsdb.path=data",
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn("prometheus", options, { cwd: folder, stdio: "ignore" });
  const exited = once(child, "exit");
  stopPrometheus = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  return `http://127.0.0.1:${port}`;
}

/** One request each tenth of a second to each server. Every third one is for a path that fails, if `fails`. */
async function load(seconds: number, fails: boolean) {
  for (let turn = 0; turn < 10 * seconds; turn += 1) {
    for (const { url } of servers) {
      const paths = fails && turn % 3 === 0 ? FAILING : HEALTHY;
      const index = Math.floor(turn / 3); // So that each path has its turn, whatever the lengths are.
      // The metrics count the response.
      void fetch(url + paths[index % paths.length]).then((response) => response.text());
      if (turn % 20 === 0) await report(url);
      if (fails && turn % 5 === 0) await attack(url);
    }
    await setTimeout(100);
  }
}

/** As browsers do: web vitals, and a script that the policy has blocked. */
async function report(url: string) {
  const reports = [
    { type: "web-vitals", url: "/", body: { LCP: 900, TTFB: 80, INP: 60, CLS: 0.02 } },
    { type: "csp-violation", url: "/", body: { effectiveDirective: "script-src-elem", blockedURL: "inline" } },
  ];
  const headers = { "Content-Type": "application/reports+json" };
  await fetch(`${url}/browser-reports`, { method: "POST", body: JSON.stringify(reports), headers });
}

/** A form of another site, and a request that the parser rejects. */
async function attack(url: string) {
  const headers = { Origin: "https://attacker.example" };
  await fetch(`${url}/example-pages/form`, { method: "POST", body: new URLSearchParams(), headers });
  connect(Number(new URL(url).port), "127.0.0.1")
    .on("error", () => {})
    .end("GET / HTTP/1.1\r\nBad\r\n\r\n");
}

async function query({ expr, legendFormat }: Panel["targets"][number]): Promise<Series[]> {
  const scoped = expr.replaceAll("$__rate_interval", RATE_INTERVAL).replaceAll(/\$(namespace|job)/g, ".*");
  const body = new URLSearchParams({ query: scoped, start: `${times[0]}`, end: `${times.at(-1)}`, step: "1" });
  const { status, data, error } = await (
    await fetch(`${prometheus}/api/v1/query_range`, { method: "POST", body })
  ).json();
  if (status !== "success") throw new Error(`${expr}: ${error}`);
  return data.result.map(({ metric, values }: { metric: Record<string, string>; values: [number, string][] }) => {
    // A rate of nothing by nothing is NaN.
    const found = new Map(values.map(([time, value]) => [time, value === "NaN" ? null : Number(value)]));
    const name = legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? "");
    return { name, values: times.map((time) => found.get(time) ?? null) };
  });
}

beforeAll(async () => {
  // As in a container of 128 MiB.
  const settings = { NODE_OPTIONS: "--max-old-space-size=96" };
  servers = await Promise.all([1, 2].map(() => startServer(settings, inject("examplesFolder"))));
  prometheus = await startPrometheus();
  await vi.waitFor(async () => expect((await fetch(`${prometheus}/-/ready`)).status).toBe(200), { timeout: 60_000 });
  await load(PHASE, false);
  await load(PHASE, true);
  const end = Math.floor(Date.now() / 1000);
  for (let time = end - 2 * PHASE; time <= end; time += 1) times.push(time);
  for (const panel of panels) {
    const found = await Promise.all(panel.targets.map(query));
    drawn.push({ ...panel, series: found.flat() });
    for (const [index, { legendFormat }] of panel.targets.entries())
      if (!found[index]?.some(hasData)) empty.push(legendFormat);
  }
});
afterAll(async () => {
  await stopPrometheus?.();
  rmSync(folder, { recursive: true });
  for (const server of servers ?? []) expect(await server.stop()).toBe(0);
});

test("each query has data", () => {
  expect(empty.filter((legend) => !MAY_BE_EMPTY.includes(legend))).toEqual([]);
});

test("each panel can be drawn", async () => {
  run(folder, "npm install --ignore-scripts --no-audit --no-fund uplot@1.6.32");
  const file = `${process.env.SCREENSHOTS ?? folder}/dashboard.jpg`;
  await drawDashboard(file, `${folder}/node_modules/uplot`, { times, panels: drawn });
});
