// The manifests, with the schemas of Kubernetes, Gateway API, Envoy Gateway and the Prometheus Operator, and the
// dashboard, with Grafana's.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { run } from "../test/support/packed-engine.ts";
import { findTypeErrors } from "./find-type-errors.ts";

const PACKAGES: Record<string, string> = {
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api@2.0.0",
  "gateway.envoyproxy.io": "@kubernetes-models/envoy-gateway@2.0.0",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator@6.0.0",
};
/** Kubernetes' own kinds. */
const CORE = "kubernetes-models@5.1.0";
const GRAFANA = "@grafana/schema@13.2.3";
const FILES = ["namespace", "web", "httproute", "envoy-gateway", "prometheus-operator", "prometheus-rule"];
const OBJECTS = FILES.flatMap((name) => parseAllDocuments(readFileSync(`deploy/kubernetes/${name}.yaml`, "utf8"))).map(
  (document) => document.toJS({ mapAsMap: false }),
);
const folder = mkdtempSync(join(tmpdir(), "schemas-"));
beforeAll(() => {
  run(
    folder,
    `npm install --ignore-scripts --no-audit --no-fund ${[CORE, GRAFANA, ...Object.values(PACKAGES)].join(" ")}`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What an API server would reject: fields that the schema doesn't have, and values that it doesn't allow. */
async function findErrors(object: { apiVersion: string; kind: string }) {
  const [group = ""] = object.apiVersion.split("/");
  const name = (PACKAGES[group] ?? CORE).replace(/@[\d.]+$/, "");
  const errors = findTypeErrors(object, `I${object.kind}`, `${name}/${object.apiVersion}`, folder);
  const models = await import(pathToFileURL(`${folder}/node_modules/${name}/${object.apiVersion}/index.js`).href);
  try {
    new models[object.kind](object).validate();
  } catch (error) {
    errors.push((error as Error).message);
  }
  return errors;
}

test.each(OBJECTS)("$kind $metadata.name follows its schema", async (object) => {
  expect(await findErrors(object)).toEqual([]);
});

test.each([
  ["an unknown field", "ServiceMonitor", '"endpoints"', '"endpointz"', "endpointz"],
  ["a value that isn't allowed", "HTTPRoute", '"PathPrefix"', '"Prefix"', '"Prefix"'],
  ["a value of Kubernetes that isn't allowed", "Deployment", '"DoNotSchedule"', '"DoNotScheduel"', "DoNotScheduel"],
  ["a missing field", "PrometheusRule", '"groups":[{"name"', '"groups":[{"nam"', "must have required property name"],
  ["a duration that isn't one", "BackendTrafficPolicy", '"60s"', '"a minute"', "must match pattern"],
])("the schemas reject %s in a %s", async (_what, kind, from, to, message) => {
  const right = JSON.stringify(OBJECTS.find((object) => object.kind === kind));
  expect(right).toContain(from);
  expect((await findErrors(JSON.parse(right.replace(from, to)))).join()).toContain(message);
});

const DASHBOARD = readFileSync("deploy/dashboard.json", "utf8");
const findDashboardErrors = (dashboard: string) =>
  findTypeErrors(JSON.parse(dashboard), "Dashboard", "@grafana/schema", folder);

test("the dashboard follows Grafana's schema", () => {
  expect(findDashboardErrors(DASHBOARD)).toEqual([]);
});

test.each([
  ["an unknown field", '"decimals"', '"decimalz"', "decimalz"],
  ["a wrong type", '"w": 8', '"w": "8"', "not assignable to type 'number'"],
  ["a value that isn't allowed", '"absolute"', '"absolut"', '"absolut"'],
  ["a missing field", '"schemaVersion": 39,', "", "'schemaVersion' is missing"],
])("Grafana's schema rejects %s in the dashboard", (_what, from, to, message) => {
  expect(DASHBOARD).toContain(from);
  expect(findDashboardErrors(DASHBOARD.replace(from, to)).join()).toContain(message);
});
