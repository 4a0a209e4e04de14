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

type Panel = { title: string; gridPos: { x: number; y: number }; targets: { expr: string }[] };
const { panels }: { panels: Panel[] } = JSON.parse(readFileSync("deploy/dashboard.json", "utf8"));
const QUERIES = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "1m")));
/** A metric, and its labels. */
const SELECTOR = /\b((?:[a-z]+:)?[a-z]+_[a-z_\d]+(?::\w+)?)(\{[^}]*\})?(?=[[ )>]|$)/gm;
const NO_METRIC = /^(histogram_quantile|group_left|avg_over_time|http_route)$/;

const findSelectors = (expr: string) =>
  [...expr.matchAll(SELECTOR)].filter(([, name = ""]) => !NO_METRIC.test(name)).map(([selector]) => selector);

test("each alert fires on its trouble, within its time, and none on a healthy site, on another job's, or in rollouts", () => {
  expect(execFileSync("promtool", ["test", "rules", ...TESTS], { encoding: "utf8" })).not.toContain("FAILED");
  const tests = TESTS.map((file) => readFileSync(file, "utf8")).join("");
  for (const { alert } of rules) if (alert) expect(tests).toContain(`alertname="${alert}"`);
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
  expect(new Set(joins)).toEqual(new Set(["on (namespace, job)"]));
});

test("each query of the dashboard is of the namespace and the job that are chosen", () => {
  const selectors = QUERIES.flatMap(findSelectors);
  expect(selectors.length).toBeGreaterThan(QUERIES.length);
  const unscoped = selectors.filter((it) => !it.includes('{namespace=~"$namespace",job=~"$job"'));
  expect(unscoped).toEqual([]);
});

test("no two panels of the dashboard overlap", () => {
  const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(panels.length);
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
  const recorded = rules.flatMap(({ record = [] }) => record);
  const exported = new Set([...(metrics.match(/^\w+/gm) ?? []), ...recorded]);
  const names = [...rules.map(({ expr }) => expr), ...QUERIES]
    .flatMap(findSelectors)
    .map((selector) => selector.replace(/\{.*/, ""));
  expect(names.length).toBeGreaterThan(rules.length);
  expect(names.filter((name) => !exported.has(name))).toEqual([]);
  await stop();
});
