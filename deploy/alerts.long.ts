// The alert rules and the dashboard, with Prometheus' promtool (Debian's package prometheus).
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "react-router-express-server/testing";
import { expect, test } from "vitest";
import { parse } from "yaml";

type Rule = { alert?: string; record?: string; expr: string };

const TESTS = ["deploy/alerts.test.yaml", "deploy/error-budget.test.yaml"];
const [{ rules }] = parse(readFileSync("deploy/alerts.yaml", "utf8")).groups as [{ rules: Rule[] }];

type Panel = { id: number; gridPos: { x: number; y: number; w: number; h: number }; targets: { expr: string }[] };
type Dashboard = { panels: Panel[]; templating: { list: { name: string }[] } };
const { panels, templating }: Dashboard = JSON.parse(readFileSync("deploy/dashboard.json", "utf8"));
const { list: variables } = templating;
const QUERIES = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "1m")));
/** A metric, and its labels. */
const SELECTOR = /\b((?:[a-z]+:)?[a-z]+_[a-z_\d]+(?::\w+)?)(\{[^}]*\})?(?=[[ )>]|$)/gm;
const NO_METRIC = /^(histogram_quantile|group_left|avg_over_time|http_route)$/;

const findSelectors = (expr: string) =>
  [...expr.matchAll(SELECTOR)].filter(([, name = ""]) => !NO_METRIC.test(name)).map(([selector]) => selector);
const nameOf = (selector: string) => selector.replace(/\{.*/, "");
const RECORDED = rules.flatMap(({ record = [] }) => record);

test("each alert fires on its trouble, within its time, and none on a healthy site, on another job's, or in rollouts", () => {
  expect(execFileSync("promtool", ["test", "rules", ...TESTS], { encoding: "utf8" })).not.toContain("FAILED");
  const tests = TESTS.map((file) => readFileSync(file, "utf8")).join("");
  for (const { alert } of rules) if (alert) expect(tests).toContain(`alertname="${alert}"`);
});

test("the healthy site of the tests has each metric of the alerts, so that no alert is silent without its metric", () => {
  const [healthy]: { input_series: { series: string }[] }[] = parse(
    readFileSync("deploy/alerts.test.yaml", "utf8"),
  ).tests;
  const given = new Set([...RECORDED, ...(healthy?.input_series ?? []).map(({ series }) => nameOf(series))]);
  const names = rules.flatMap(({ expr }) => findSelectors(expr)).map(nameOf);
  expect(names.filter((name) => !given.has(name))).toEqual([]);
});

test("the scraper's configuration is valid", () => {
  const output = execFileSync("promtool", ["check", "config", "deploy/prometheus.yaml"], { encoding: "utf8" });
  expect(output).toContain("SUCCESS: deploy/prometheus.yaml is valid");
});

test("each rule keeps the site's namespace and job, so that no site hides another", () => {
  const aggregations = rules.flatMap(({ expr }) => expr.match(/\b(?:sum|max|group|count|min|avg)\b.*/g) ?? []);
  expect(aggregations.length).toBeGreaterThan(10);
  for (const aggregation of aggregations) expect(aggregation).toMatch(/^\w+ by \(namespace, job\b/);
  const joins = rules.flatMap(({ expr }) => expr.match(/\bon \(.*?\)/g) ?? []);
  // Another exporter of the job has another instance.
  expect(new Set(joins)).toEqual(new Set(["on (namespace, job)", "on (namespace, job, instance)"]));
});

test("each query of the dashboard is of the namespace and the job that are chosen, one at a time", () => {
  expect(variables.map(({ name }) => name)).toEqual(["datasource", "namespace", "job"]);
  // The numbers of two sites together would hide the trouble of one.
  for (const variable of variables) expect(variable).not.toHaveProperty("includeAll");
  const selectors = QUERIES.flatMap(findSelectors);
  expect(selectors.length).toBeGreaterThan(QUERIES.length);
  const unscoped = selectors.filter((it) => !it.includes('{namespace=~"$namespace",job=~"$job"'));
  expect(unscoped).toEqual([]);
});

test("no two panels of the dashboard overlap or have the same id, and Grafana's 24 columns hold each", () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => ({ column: x + (cell % w), row: y + Math.floor(cell / w) })),
  );
  expect(new Set(cells.map(({ column, row }) => `${column} ${row}`)).size).toBe(cells.length);
  expect(Math.max(...cells.map(({ column }) => column))).toBeLessThan(24);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

test("the dashboard's queries are valid", () => {
  const rules = QUERIES.map((expr, index) => ({ record: `query_${index}`, expr }));
  const file = join(tmpdir(), "dashboard.json");
  writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
  const output = execFileSync("promtool", ["check", "rules", file], { encoding: "utf8" });
  expect(output).toContain(`SUCCESS: ${QUERIES.length} rules found`);
});

test("the server has the metrics of the alerts and the dashboard", async () => {
  const { url, opsUrl, stop } = await startServer();
  // The series of web vitals start with the first visit.
  const report = [{ type: "web-vitals", url: "/", body: { LCP: 1, CLS: 0 } }];
  const headers = { "Content-Type": "application/reports+json" };
  await fetch(`${url}/browser-reports`, { method: "POST", body: JSON.stringify(report), headers });
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  const exported = new Set([...(metrics.match(/^\w+/gm) ?? []), ...RECORDED]);
  const names = [...rules.map(({ expr }) => expr), ...QUERIES].flatMap(findSelectors).map(nameOf);
  expect(names.length).toBeGreaterThan(rules.length);
  // This one needs a cache channel.
  const missing = new Set(names.filter((name) => !exported.has(name)));
  expect(missing).toEqual(new Set(["page_cache_channel_connected"]));
  await stop();
});
