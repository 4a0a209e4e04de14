import { readFileSync } from "node:fs";
import { findFreePort } from "react-router-express-server/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import {
  buildImage,
  engine,
  expectStatus,
  IMAGE,
  inspect,
  isPodman,
  MEBIBYTE,
  readStatus,
} from "../test/support/container.ts";

const pods: string[] = [];
afterAll(async () => {
  for (const id of pods) await engine(["pod", "rm", "--force", id]);
});

beforeAll(buildImage, 900_000);

test.runIf(isPodman)("of two replicas of the Deployment one serves while the other stops", async () => {
  const [deployment] = parseAllDocuments(readFileSync("deploy/kubernetes/web.yaml", "utf8")).map((it) => it.toJS());
  const [container] = deployment.spec.template.spec.containers;
  container.image = IMAGE;
  // Podman's probes run curl, which the image lacks.
  for (const name of ["startupProbe", "livenessProbe"]) delete container[name];
  const replicas: { id: string; url: string; opsUrl: string }[] = [];
  for (const name of ["greeting-test-1", "greeting-test-2"]) {
    const [port, opsPort] = [await findFreePort(), await findFreePort()];
    deployment.metadata.name = name;
    [container.ports[0].hostPort, container.ports[1].hostPort] = [port, opsPort];
    const output = await engine(["kube", "play", "--replace", "-"], stringify(deployment));
    pods.push(/Pod:\n(\w+)/.exec(output)?.[1] as string);
    const id = /Container:\n(\w+)/.exec(output)?.[1] as string;
    replicas.push({ id, url: `http://127.0.0.1:${port}`, opsUrl: `http://127.0.0.1:${opsPort}` });
  }
  for (const { id, url, opsUrl } of replicas) {
    await vi.waitFor(() => expectStatus(`${opsUrl}/readyz`, 200), { timeout: 30_000 });
    await expectStatus(url, 200);
    expect((await inspect(id)).HostConfig).toMatchObject({ ReadonlyRootfs: true, Memory: 128 * MEBIBYTE });
    expect(await readStatus(id)).toMatch(/^CapBnd:\s+0+\n(.+\n)*NoNewPrivs:\s+1\nSeccomp:\s+2$/m);
  }

  const [stopping, staying] = replicas as [(typeof replicas)[0], (typeof replicas)[0]];
  const stopped = engine(["stop", "--time=20", stopping.id]);
  await vi.waitFor(() => expectStatus(`${stopping.opsUrl}/readyz`, 503), { timeout: 4000 });
  await expectStatus(stopping.url, 200); // Until every node has removed it.
  await expectStatus(`${staying.opsUrl}/readyz`, 200);
  await expectStatus(staying.url, 200);
  await stopped;
  expect((await inspect(stopping.id)).State.ExitCode).toBe(0);
});
