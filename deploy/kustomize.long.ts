// What a cluster with Envoy Gateway and the Prometheus Operator gets, from kubectl.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

const folder = mkdtempSync(join(tmpdir(), "kustomize-"));
cpSync("deploy/kubernetes", folder, { recursive: true });
const kustomization = readFileSync(join(folder, "kustomization.yaml"), "utf8");
writeFileSync(
  join(folder, "kustomization.yaml"),
  kustomization.replace(
    "httproute.yaml]",
    "httproute.yaml, envoy-gateway.yaml, prometheus-operator.yaml, prometheus-rule.yaml]",
  ),
);
const OUTPUT = execFileSync("kubectl", ["kustomize", folder], { encoding: "utf8" });
const OBJECTS = parseAllDocuments(OUTPUT, { strict: true }).map((document) => document.toJS());
const find = (kind: string) => OBJECTS.find((object) => object.kind === kind);
const [service, operationsService] = OBJECTS.filter(({ kind }) => kind === "Service");
const deployment = find("Deployment");
const { metadata, spec: pod } = deployment.spec.template;

test.each([
  ["the Deployment", deployment.spec.selector.matchLabels],
  ["the Service of the users' port", service.spec.selector],
  ["the Service of the operators' port", operationsService.spec.selector],
  ["the PodDisruptionBudget", find("PodDisruptionBudget").spec.selector.matchLabels],
  ["the NetworkPolicy", find("NetworkPolicy").spec.podSelector.matchLabels],
  ["the spread over zones", pod.topologySpreadConstraints[0].labelSelector.matchLabels],
  ["the spread over nodes", pod.topologySpreadConstraints[1].labelSelector.matchLabels],
])("%s selects the pods", (_what, labels) => {
  // The version isn't among them, or else a release couldn't change it.
  expect(labels).toEqual({ "app.kubernetes.io/name": metadata.labels["app.kubernetes.io/name"] });
});

test("the autoscaler scales the Deployment", () => {
  const { apiVersion, kind } = deployment;
  const { scaleTargetRef } = find("HorizontalPodAutoscaler").spec;
  expect(scaleTargetRef).toEqual({ apiVersion, kind, name: deployment.metadata.name });
});

test("over HTTP, the gateway redirects to HTTPS, and nothing else", () => {
  const routes = OBJECTS.filter(({ kind }) => kind === "HTTPRoute").map(({ spec }) => spec);
  const hosts = new Set(routes.map(({ hostnames }) => hostnames.join()));
  expect(hosts.size).toBe(1);
  const ofHttp = routes.filter(({ parentRefs }) => parentRefs[0].sectionName !== "https");
  const requestRedirect = { scheme: "https", statusCode: 301 };
  expect(ofHttp.map(({ rules }) => rules)).toEqual([[{ filters: [{ type: "RequestRedirect", requestRedirect }] }]]);
});

test("all objects are in the namespace", () => {
  const { name } = find("Namespace").metadata;
  const outside = OBJECTS.filter(({ kind, metadata }) => kind !== "Namespace" && metadata.namespace !== name);
  expect(outside).toEqual([]);
});

test("the ServiceMonitor finds the operators' port, and no other", () => {
  const { jobLabel, selector, endpoints } = find("ServiceMonitor").spec;
  const services = OBJECTS.filter(({ kind }) => kind === "Service");
  for (const { metadata } of services) expect(metadata.labels).toMatchObject(selector.matchLabels);
  const ports = services.flatMap(({ spec }) => spec.ports.map(({ name }: { name: string }) => name));
  expect(ports.filter((name) => name === endpoints[0].port)).toHaveLength(1);
  expect(operationsService.spec.ports[0].name).toBe(endpoints[0].port);
  expect(operationsService.metadata.labels[jobLabel]).toBe("greeting");
});

test("the pods have the image that is set", () => {
  expect(pod.containers[0].image).toMatch(/^greeting:\d/);
});

test("the route leads to the users' port, and its rules have the gateway's policies", () => {
  const route = OBJECTS.find(({ kind, metadata }) => kind === "HTTPRoute" && metadata.name === service.metadata.name);
  const backendRefs = [{ name: service.metadata.name, port: service.spec.ports[0].port }];
  const timeouts = { request: "0s" };
  expect(route.spec.rules).toMatchObject([
    { name: "assets", matches: [{ path: { value: "/assets/" } }], backendRefs, timeouts },
    { backendRefs, timeouts },
  ]);
  const target = { group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: route.metadata.name };
  const timeout = { http: { connectionIdleTimeout: "60s" } };
  const retry = { numRetries: 3, retryOn: { triggers: ["retriable-status-codes"], httpStatusCodes: [404] } };
  const policies = OBJECTS.filter(({ kind }) => kind === "BackendTrafficPolicy").map(({ spec }) => spec);
  expect(policies).toHaveLength(2);
  expect(policies).toContainEqual({ targetRefs: [target], timeout });
  expect(policies).toContainEqual({ targetRefs: [{ ...target, sectionName: "assets" }], timeout, retry });
});
