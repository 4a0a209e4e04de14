import { readdirSync, readFileSync } from "node:fs";
import { startServer } from "react-router-express-server/testing";
import { expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { version } from "../package.json";

const RUNBOOK = "packages/server/docs/operating.md";
const FILES = ["namespace", "web"].map((name) => readFileSync(`deploy/kubernetes/${name}.yaml`, "utf8"));
const MANIFESTS = parseAllDocuments(FILES.join("---\n"), { strict: true }).map((document) =>
  document.toJS({ mapAsMap: false }),
);
const find = (kind: string) => MANIFESTS.find((manifest) => manifest.kind === kind);
const deployment = find("Deployment");
const [service, operationsService] = MANIFESTS.filter(({ kind }) => kind === "Service");
const KUSTOMIZATION = parse(readFileSync("deploy/kubernetes/kustomization.yaml", "utf8"));
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const COMPOSE = parse(readFileSync("deploy/compose.yaml", "utf8"), { strict: true, merge: true });
const UNIT = `deploy/${readdirSync("deploy").find((name) => name.endsWith(".service"))}`;
const env = Object.fromEntries(container.env.map(({ name, value }: { name: string; value: string }) => [name, value]));

test("the deployment names the package's version", () => {
  const [, labels] = KUSTOMIZATION.labels;
  expect(KUSTOMIZATION.images).toMatchObject([{ name: container.image, newTag: version }]);
  expect(labels.pairs["app.kubernetes.io/version"]).toBe(version);
});

test("a cluster without Envoy Gateway and the Prometheus Operator gets none of their objects", () => {
  expect(KUSTOMIZATION.resources).toEqual(["namespace.yaml", "web.yaml", "httproute.yaml"]);
});

// Debian's promtool is built without the discovery of Kubernetes.
test("a scraper in the cluster finds the operators' port alone, by the annotation and the port's name", () => {
  const { scrape_configs } = parse(readFileSync("deploy/prometheus-kubernetes.yaml", "utf8"), { strict: true });
  const [{ relabel_configs: rules }] = scrape_configs;
  const annotation = Object.keys(operationsService.metadata.annotations)[0]?.replaceAll(/\W/g, "_");
  expect(rules[0].source_labels[0]).toBe(`__meta_kubernetes_service_annotation_${annotation}`);
  expect(rules[0].regex).toBe(`true;${operationsService.spec.ports[0].name}`);
  expect(service.metadata.annotations).toBeUndefined();
  expect(rules.slice(1).map(({ target_label }: { target_label: string }) => target_label)).toEqual([
    "namespace",
    "job",
  ]);
});

test("services and probes name ports of the container", () => {
  const ports = container.ports.map(({ name }: { name: string }) => name);
  for (const { spec } of [service, operationsService]) expect(ports).toContain(spec.ports[0].targetPort);
  for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
    expect(ports).toContain(container[probe].httpGet.port);
  }
});

const IGNORED = readFileSync(".dockerignore", "utf8").match(/^[^#\n]+/gm) ?? [];
const WILDCARDS: Record<string, string> = { "**/": "(.*/)?", "*": "[^/]*", ".": "\\." };
/** Whether a file is left out of the image's build. */
const isIgnored = (path: string) =>
  IGNORED.map((pattern) => pattern.replaceAll(/\*\*\/|\*|\./g, (found) => WILDCARDS[found] ?? found)).some((pattern) =>
    new RegExp(`^${pattern}(/|$)`).test(path),
  );

test("the image's build gets the files of each example, and of a team's own folders", () => {
  const examples = "packages/server/examples";
  const files = readdirSync(examples).flatMap((name) =>
    readdirSync(`${examples}/${name}`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !["README.md", "package.json"].includes(entry.name))
      .map(({ parentPath, name: file }) => `${parentPath}/${file}`.slice(`${examples}/${name}/`.length)),
  );
  const built = files.filter((path) => !path.startsWith("test/") && !/\.test\.tsx?$/.test(path));
  expect(built).toContain("api.server.ts");
  expect([...built, "services/mail.ts", "content/news.md", "server.ts"].filter(isIgnored)).toEqual([]);
});

test.each([
  ".env",
  ".env.local",
  "services/.env.local",
  ".git/config",
  "node_modules/a/index.js",
  "app/routes/home.test.ts",
  "build/index.js",
])("the image's build doesn't get %s", (path) => {
  expect(isIgnored(path)).toBe(true);
});

test("the namespace enforces Pod Security's restricted level, which the pods have", () => {
  expect(find("Namespace").metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
  expect(find("Namespace").metadata.name).toBe(KUSTOMIZATION.namespace);
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
  expect(container.securityContext).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } });
  expect([pod.hostNetwork, pod.hostPID, pod.hostIPC, pod.volumes]).toEqual(Array(4).fill(undefined));
});

test("no node has all pods, and pods never use more memory or disk than they request", () => {
  const hard = pod.topologySpreadConstraints.filter(
    ({ whenUnsatisfiable }: { whenUnsatisfiable: string }) => whenUnsatisfiable === "DoNotSchedule",
  );
  expect(hard).toMatchObject([{ topologyKey: "kubernetes.io/hostname", nodeTaintsPolicy: "Honor" }]);
  const { requests, limits } = container.resources;
  expect(Object.keys(limits)).toEqual(["memory", "ephemeral-storage"]);
  expect(requests).toMatchObject(limits);
});

test("each port is reachable from one namespace, and pods reach nothing but the cluster's DNS", () => {
  type Rule = { ports: { port: string }[]; from?: unknown[] };
  const { policyTypes, ingress: rules, egress } = find("NetworkPolicy").spec;
  expect(policyTypes).toEqual(["Ingress", "Egress"]);
  const from = (name: string) => [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } }];
  expect(rules.map(({ ports, from }: Rule) => [ports, from])).toEqual([
    [[{ port: service.spec.ports[0].targetPort }], from("envoy-gateway-system")],
    [[{ port: operationsService.spec.ports[0].targetPort }], from("monitoring")],
  ]);
  expect(egress.flatMap(({ ports }: Rule) => ports.map(({ port }) => port))).toEqual([53, 53]);
  const podSelector = { matchLabels: { "k8s-app": "kube-dns" } };
  expect(egress[0].to).toEqual([{ ...from("kube-system")[0], podSelector }]);
});

test("each alert links to its section of the runbook, and each section is of an alert", () => {
  type Rule = { alert?: string; annotations: { runbook_url: string } };
  const [{ rules }] = parse(readFileSync("deploy/alerts.yaml", "utf8")).groups as [{ rules: Rule[] }];
  const alerts = rules.filter(({ alert }) => alert);
  const names = alerts.map(({ alert = "" }) => alert);
  const links = alerts.map(({ annotations }) => annotations.runbook_url);
  const [runbook = ""] = links[0]?.split("#") ?? [];
  expect(runbook).toMatch(new RegExp(`^https://.*/${RUNBOOK}$`));
  expect(links).toEqual(names.map((name) => `${runbook}#${name.toLowerCase()}`));
  const sections = readFileSync(RUNBOOK, "utf8").match(/(?<=^### )Site\w+$/gm);
  expect(sections?.toSorted()).toEqual(names.toSorted());
});

test("prometheus-rule.yaml has the rules of alerts.yaml (npx vitest run --project slow deployment --update)", async () => {
  const spec = parse(readFileSync("deploy/alerts.yaml", "utf8"));
  const rule = { apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule", metadata: { name: "web" }, spec };
  const comment = "# For the Prometheus Operator alone. Made of deploy/alerts.yaml by deploy/deployment.slow.ts.\n";
  const file = `${comment}${stringify(rule, { lineWidth: 0 })}`;
  await expect(file).toMatchFileSnapshot("kubernetes/prometheus-rule.yaml");
});

test.each(Object.entries<Record<string, unknown>>(COMPOSE.services))(
  "Compose limits the log, memory and processes of %s, and restarts it",
  (_name, service) => {
    expect(service.logging).toEqual({ driver: "json-file", options: { "max-size": "10m", "max-file": "5" } });
    expect(service).toMatchObject({
      mem_limit: "128m",
      memswap_limit: "128m",
      pids_limit: 64,
      restart: "unless-stopped",
    });
  },
);

test("Compose starts a Caddy of one version, once the site is healthy, and checks it", () => {
  const { image, depends_on, healthcheck } = COMPOSE.services.caddy;
  expect(image).toMatch(/^caddy:\d+\.\d+\.\d+$/);
  expect(depends_on).toEqual({ web: { condition: "service_healthy" } });
  expect(healthcheck.test).toContain("443");
});

test("systemd restarts the server again and again, and gives it no swap", () => {
  const unit = readFileSync(UNIT, "utf8");
  // By default, systemd gives up after five starts within 10 s.
  expect(Number(/^RestartSec=(\d+)$/m.exec(unit)?.[1]) * 5).toBeGreaterThan(10);
  expect(unit).toMatch(/^MemorySwapMax=0$/m);
});

test("deployments use settings that the server has", async () => {
  const deployed = { ...env, ...COMPOSE.services.web.environment };
  const { lines, stop } = await startServer({
    ...deployed,
    HOST: "127.0.0.1",
    PORT: "0",
    OPS_PORT: "0",
    LOG_LEVEL: "info",
  });
  expect(await stop()).toBe(0);
  const line: Record<string, unknown> = lines.find(({ msg }) => msg === "starting") ?? {};
  expect(Object.keys({ ...(line.settings as object), ...(line.limits as object) })).toEqual(
    expect.arrayContaining(Object.keys(deployed)),
  );
});

test("a pod's grace period is 3 s longer than its delay and its timeout", () => {
  const longest = Number(env.SHUTDOWN_DELAY_MS) + Number(env.SHUTDOWN_TIMEOUT_MS);
  expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(longest + 3000);
});
