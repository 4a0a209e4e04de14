// The rules of kube-linter and kube-score, which the manifests follow or have a reason not to.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const MANIFESTS = parseAllDocuments(readFileSync("deploy/kubernetes/web.yaml", "utf8")).map((it) => it.toJS());
const find = (kind: string) => MANIFESTS.find((manifest) => manifest.kind === kind);
const SERVICES = MANIFESTS.filter(({ kind }) => kind === "Service");
const [image] = parse(readFileSync("deploy/kubernetes/kustomization.yaml", "utf8")).images;
const user = Number(/^USER (\d+)$/m.exec(readFileSync("Dockerfile", "utf8"))?.[1]);
const { spec: deployment } = find("Deployment");
const { spec: pod, metadata } = deployment.template;
const [container] = pod.containers;
const { startupProbe, readinessProbe, livenessProbe } = container;
const PROBES = [startupProbe, readinessProbe, livenessProbe];
const AUTOSCALER = find("HorizontalPodAutoscaler").spec;

test.each([
  ["has one container, and no init container", [pod.containers.length, pod.initContainers], [1, undefined]],
  ["has an image with a version, not the latest", /^\d+\.\d+\.\d+$/.test(image.newTag), true],
  ["requests CPU, memory and disk", Object.keys(container.resources.requests), ["cpu", "memory", "ephemeral-storage"]],
  [
    "has limits of memory and disk, and none of CPU",
    Object.keys(container.resources.limits),
    ["memory", "ephemeral-storage"],
  ],
  [
    "requests as much as its limits allow",
    { ...container.resources.requests, ...container.resources.limits },
    container.resources.requests,
  ],
  [
    "is started and restarted by /livez, and gets requests by /readyz",
    PROBES.map(({ httpGet }) => httpGet.path),
    ["/livez", "/readyz", "/livez"],
  ],
  ["is probed at the operators' port", new Set(PROBES.map(({ httpGet }) => httpGet.port)), new Set(["operations"])],
  // docs/load-balancers.md: a service fails after a check of 1 s.
  ["is probed for longer than the server checks a service", readinessProbe.timeoutSeconds > 1, true],
  [
    "isn't restarted sooner than it is without requests",
    livenessProbe.timeoutSeconds > readinessProbe.timeoutSeconds,
    true,
  ],
  ["has a file system that is read-only", container.securityContext.readOnlyRootFilesystem, true],
  ["isn't privileged", container.securityContext.privileged, undefined],
  ["can't gain privileges", container.securityContext.allowPrivilegeEscalation, false],
  ["has no capability", container.securityContext.capabilities, { drop: ["ALL"] }],
  ["has the runtime's seccomp profile", pod.securityContext.seccompProfile, { type: "RuntimeDefault" }],
  ["isn't root", pod.securityContext.runAsNonRoot, true],
  ["runs as the image's user", [pod.securityContext.runAsUser, pod.securityContext.runAsGroup], [user, user]],
  ["has no token for the API server", pod.automountServiceAccountToken, false],
  ["has no port of the node", container.ports.flatMap(({ hostPort = [] }) => hostPort), []],
  [
    "has no secret among its settings",
    container.env.filter(({ name }: { name: string }) => /SECRET|PASSWORD|TOKEN|KEY$/.test(name)),
    [],
  ],
  ["stops once another one is ready", deployment.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 }],
  ["isn't the only one", AUTOSCALER.minReplicas > find("PodDisruptionBudget").spec.maxUnavailable, true],
  [
    "has a number that the autoscaler sets",
    [AUTOSCALER.scaleTargetRef.name, deployment.replicas],
    [find("Deployment").metadata.name, undefined],
  ],
  [
    "is reached from inside the cluster alone",
    SERVICES.map(({ spec }) => spec.type ?? "ClusterIP"),
    ["ClusterIP", "ClusterIP"],
  ],
])("a pod %s", (_rule, actual, expected) => {
  expect(actual).toEqual(expected);
});

test.each([
  ["the Deployment", deployment.selector],
  ["the spread over zones", pod.topologySpreadConstraints[0].labelSelector],
  ["the spread over nodes", pod.topologySpreadConstraints[1].labelSelector],
  ["the PodDisruptionBudget", find("PodDisruptionBudget").spec.selector],
  ["the NetworkPolicy", find("NetworkPolicy").spec.podSelector],
  ["the Service of the users' port", { matchLabels: SERVICES[0]?.spec.selector }],
  ["the Service of the operators' port", { matchLabels: SERVICES[1]?.spec.selector }],
])("%s selects the pods", (_what, selector) => {
  expect(selector).toEqual({ matchLabels: metadata.labels });
});
