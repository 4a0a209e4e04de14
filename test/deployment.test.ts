import { readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import ts from "typescript";
import * as v from "valibot";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { devDependencies, version } from "../package.json";
import { CLOSE_TIMEOUT_MS } from "../server/ops/supervision.ts";
import { LOG_TIMEOUT_MS } from "../server/process.ts";
import { parseSettings, ServerSettingsSchema } from "../server/settings.ts";

const DOCKERFILE = readFileSync("Dockerfile", "utf8");
const MANIFESTS = parseAllDocuments(readFileSync("deploy/kubernetes.yaml", "utf8"), { strict: true }).map((document) =>
  document.toJS({ mapAsMap: false }),
);
const find = (kind: string) => MANIFESTS.find((manifest) => manifest.kind === kind);
const deployment = find("Deployment");
const [service, operationsService] = MANIFESTS.filter(({ kind }) => kind === "Service");
const ingress = find("Ingress");
const KUSTOMIZATION = parse(readFileSync("deploy/kustomization.yaml", "utf8"));
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const COMPOSE = parse(readFileSync("deploy/compose.yaml", "utf8"), { strict: true });
const env = Object.fromEntries(container.env.map(({ name, value }: { name: string; value: string }) => [name, value]));

test.each(["Dockerfile", "deploy/tracing.Dockerfile"])("%s has a clean lint and installs from a lockfile", (file) => {
  const dockerfile = readFileSync(file, "utf8");
  expect(validate(dockerfile)).toEqual([]);
  expect(dockerfile.match(/npm (ci|i|install|add)\b/g)).toEqual(["npm ci"]);
});

test.each(["package-lock.json", "deploy/tracing/package-lock.json"])("%s names no registry", (file) => {
  expect(readFileSync(file, "utf8")).not.toContain('"resolved"');
});

test("the image and its deployment name the package's version", () => {
  const [, labels] = KUSTOMIZATION.labels;
  expect(DOCKERFILE).toContain(`org.opencontainers.image.version="${version}"`);
  expect(KUSTOMIZATION.images).toMatchObject([{ name: container.image, newTag: version }]);
  expect(labels.pairs["app.kubernetes.io/version"]).toBe(version);
});

test("the manifest has a place for each setting of a deployment", () => {
  const [{ target, patch }] = KUSTOMIZATION.patches;
  const [{ source, targets }] = KUSTOMIZATION.replacements;
  const read = (path: string[]) => path.reduce((value, key) => value?.[key], ingress);
  const [{ op, path }] = parse(patch);
  expect(KUSTOMIZATION.resources).toEqual(["kubernetes.yaml"]);
  expect([target, source, targets[0].select]).toMatchObject(Array(3).fill({ kind: ingress.kind }));
  expect(op).toBe("replace");
  expect(path.slice(1).split("/")).toEqual(source.fieldPath.split("."));
  expect(read(source.fieldPath.split("."))).toEqual(expect.any(String));
  expect(read(targets[0].fieldPaths[0].split("."))).toEqual(read(source.fieldPath.split(".")));
});

test("the types are those of the Node that ships", () => {
  const [major] = devDependencies["@types/node"].split(".");
  expect(DOCKERFILE).toContain(`ARG BUILD_IMAGE=node:${major}-`);
  expect(DOCKERFILE).toContain(`/nodejs${major}-`);
});

/** What the compiler has against a manifest as a literal of its Kubernetes type: unknown, missing and wrong fields. */
function findTypeErrors(manifest: { apiVersion: string; kind: string }) {
  const group = manifest.apiVersion === "v1" ? "core/v1" : manifest.apiVersion.replace(".k8s.io", "");
  const source = `import type { ${manifest.kind} } from "kubernetes-types/${group}";
    export const manifest: ${manifest.kind} = ${JSON.stringify(manifest)};`;
  const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], lib: ["lib.es5.d.ts"] };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, target) =>
    name === "manifest.ts" ? ts.createSourceFile(name, source, target) : getSourceFile(name, target);
  const program = ts.createProgram(["manifest.ts"], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}

test.each(MANIFESTS)("$kind follows the Kubernetes schema", (manifest) => {
  expect(findTypeErrors(manifest)).toEqual([]);
});

test.each([
  ["an unknown field", { securityContext: { readOnlyRootFilesytem: true } }, "readOnlyRootFilesytem"],
  ["a wrong type", { resources: { limits: { memory: 128 } } }, "number"],
  ["a missing field", { name: undefined }, "name"],
])("the schema rejects %s", (_what, change, message) => {
  const wrong = structuredClone(deployment);
  Object.assign(wrong.spec.template.spec.containers[0], change);
  expect(findTypeErrors(wrong)).toEqual([expect.stringContaining(message)]);
});

test("the objects of the manifest refer to each other", () => {
  const { labels } = deployment.spec.template.metadata;
  expect(Object.keys(KUSTOMIZATION.labels[0].pairs)).toEqual(Object.keys(labels));
  expect(deployment.spec.selector.matchLabels).toEqual(labels);
  for (const { labelSelector } of pod.topologySpreadConstraints) expect(labelSelector.matchLabels).toEqual(labels);
  for (const { spec } of [service, operationsService]) expect(spec.selector).toEqual(labels);
  expect(find("PodDisruptionBudget").spec.selector.matchLabels).toEqual(labels);
  expect(find("NetworkPolicy").spec.podSelector.matchLabels).toEqual(labels);
  expect(find("HorizontalPodAutoscaler").spec.scaleTargetRef).toEqual({
    apiVersion: deployment.apiVersion,
    kind: deployment.kind,
    name: deployment.metadata.name,
  });
  expect(ingress.spec.rules[0].http.paths[0].backend.service).toEqual({
    name: service.metadata.name,
    port: { name: service.spec.ports[0].name },
  });

  const ports = container.ports.map(({ name }: { name: string }) => name);
  for (const { spec } of [service, operationsService]) expect(ports).toContain(spec.ports[0].targetPort);
  for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
    expect(ports).toContain(container[probe].httpGet.port);
  }
});

test("each port is reachable from one namespace, and pods reach nothing but DNS", () => {
  type Rule = { ports: { port: string }[]; from?: unknown[] };
  const { policyTypes, ingress: rules, egress } = find("NetworkPolicy").spec;
  expect(policyTypes).toEqual(["Ingress", "Egress"]);
  const from = (name: string) => [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } }];
  expect(rules.map(({ ports, from }: Rule) => [ports, from])).toEqual([
    [[{ port: service.spec.ports[0].targetPort }], from("ingress-nginx")],
    [[{ port: operationsService.spec.ports[0].targetPort }], from("monitoring")],
  ]);
  expect(egress.flatMap(({ ports }: Rule) => ports.map(({ port }) => port))).toEqual([53, 53]);
});

test("deployments use settings that the server has", () => {
  const deployed = { ...env, ...COMPOSE.services.web.environment };
  expect(parseSettings(ServerSettingsSchema, deployed)).toHaveProperty("settings");
  expect(Object.keys(ServerSettingsSchema.entries)).toEqual(expect.arrayContaining(Object.keys(deployed)));
});

test("the default timeouts of a shutdown end it within the 10 s of docker stop", () => {
  const { SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS } = v.parse(ServerSettingsSchema, {});
  expect(SHUTDOWN_DELAY_MS + SHUTDOWN_TIMEOUT_MS + CLOSE_TIMEOUT_MS + LOG_TIMEOUT_MS).toBeLessThan(10_000);
});

test("a pod's grace period is as long as a shutdown may take", () => {
  const longest = Number(env.SHUTDOWN_DELAY_MS) + Number(env.SHUTDOWN_TIMEOUT_MS);
  expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(longest);
});
