// The alert rules and the dashboard, with Prometheus' promtool (Debian's package prometheus).
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "react-router-express-server/testing";
import { expect, test } from "vitest";
import { parse } from "yaml";

type Rule = { alert: string; expr: string };

const [{ rules }] = parse(readFileSync("deploy/alerts.yaml", "utf8")).groups as [{ rules: Rule[] }];

type Panel = { title: string; targets: { expr: string }[] };
const { panels }: { panels: Panel[] } = JSON.parse(readFileSync("deploy/dashboard.json", "utf8"));
const QUERIES = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "1m")));

test("each alert fires on its trouble, and none on a healthy site", () => {
  const args = ["test", "rules", "deploy/alerts.test.yaml"];
  expect(execFileSync("promtool", args, { encoding: "utf8" })).toContain("SUCCESS");
  const tests = readFileSync("deploy/alerts.test.yaml", "utf8");
  for (const { alert } of rules) expect(tests).toContain(`alertname="${alert}"`);
});

test("the dashboard's queries are valid", () => {
  const rules = QUERIES.map((expr, index) => ({ record: `query_${index}`, expr }));
  const file = join(tmpdir(), "dashboard.json");
  writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
  const output = execFileSync("promtool", ["check", "rules", file], { encoding: "utf8" });
  expect(output).toContain(`SUCCESS: ${QUERIES.length} rules found`);
});

test("the server has the metrics of the alerts and the dashboard", async () => {
  const { opsUrl, stop } = await startServer();
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  const queries = [...rules.map(({ expr }) => expr), ...QUERIES];
  const names = queries.flatMap((expr) => expr.match(/[a-z]+_[a-z_\d]+(?=[[{ )>]|$)/gm) ?? []);
  const exported = new Set(metrics.match(/^\w+/gm));
  expect(names.length).toBeGreaterThan(rules.length);
  const unknown = names.filter(
    (name) => !/^(histogram_quantile|group_left|http_route|error_type)$/.test(name) && !exported.has(name),
  );
  expect(unknown).toEqual([]);
  await stop();
});
