// Three processes behind each of nginx.conf, haproxy.cfg and varnish.vcl, from a bad release to its roll-back.
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { type RunningServer, startServer } from "react-router-express-server/testing";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { PROXY_NAMES, type RunningProxy, startProxy, toUpstream } from "./start-proxy.ts";

const CLIENTS = 8;
const MIN_REQUESTS = 400;
/** As haproxy.cfg says. */
const SETTINGS = { SHUTDOWN_DELAY_MS: "3000" };
const EXPECTED: Record<string, number[]> = { "/nowhere": [404], "/": [200] };
/** A process of another release alone has it. */
const SCRIPT = "/assets/added-12345678.js";

describe.each(PROXY_NAMES)("behind %s", (name) => {
  let servers: [RunningServer, RunningServer, RunningServer];
  let proxy: RunningProxy;
  let folder: string;

  beforeAll(async () => {
    // A process of another release, with a script that the others lack.
    folder = `${inject("examplesFolder")}/other-release`;
    cpSync(`${inject("examplesFolder")}/build`, `${folder}/build`, { recursive: true });
    writeFileSync(`${folder}/build/client${SCRIPT}`, "release = 'other';");
    const start = (from: string) => startServer(SETTINGS, from);
    servers = await Promise.all([
      start(inject("examplesFolder")),
      start(inject("examplesFolder")),
      start(folder),
    ] as const);
    proxy = await startProxy(name, servers.map(toUpstream));
  });

  afterAll(async () => {
    await proxy?.stop();
    for (const { child } of servers ?? []) child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });

  /** Sends requests until enough have ended after `change`. Resolves with the number of each outcome. */
  const load = async (change: () => void, isEnough = () => true, expected = EXPECTED) => {
    const targets = Object.entries(expected);
    const outcomes: Record<string, number> = {};
    let ended = 0;
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let i = client; !isOver; i += 1) {
        const [path, statuses] = targets[i % targets.length] as [string, number[]];
        // Varnish has cached nothing for this query.
        const outcome = await proxy.send(`${path}?${client}-${i}`).then(
          ({ status }) => (statuses.includes(status) ? "as expected" : `${path}: ${status}`),
          (error) => `${path}: ${error.code}`,
        );
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        ended += 1;
      }
    });
    change();
    const before = ended;
    await expect.poll(() => ended - before > MIN_REQUESTS && isEnough(), { timeout: 120_000 }).toBe(true);
    isOver = true;
    await Promise.all(clients);
    return outcomes;
  };

  const requestAsset = async (path: string) => {
    const responses = [];
    for (let i = 0; i < 9; i += 1) responses.push(await proxy.send(`${path}?${i}`));
    return new Set(responses.map(({ status }) => status));
  };

  test("pages and forms work, with the client's address", async () => {
    const page = await proxy.send("/", { headers: { "Accept-Encoding": "gzip, br" } });
    expect(page).toMatchObject({ status: 200, headers: { "content-encoding": "br" } });
    const headers = { "Content-Type": "application/x-www-form-urlencoded", Origin: proxy.origin };
    const options = { method: "POST", headers };
    expect((await proxy.send("/example-pages/form", options, "name=Ada")).status).toBe(200);
    headers.Origin = "https://example.com";
    expect((await proxy.send("/example-pages/form", options, "name=Ada")).status).toBe(403);
    await proxy.send("/no-such-page", { localAddress: "127.0.0.2", family: 4 });
    const findLine = () => servers.flatMap(({ lines }) => lines).find((line) => line["url.path"] === "/no-such-page");
    await expect.poll(findLine).toMatchObject({ "client.address": "127.0.0.2" });
    if (name === "Varnish") return;
    const redirect = await fetch(`${proxy.plainUrl}/a?b`, { redirect: "manual" });
    expect([redirect.status, redirect.headers.get("Location")]).toEqual([
      308,
      expect.stringMatching(/^https:.*\/a\?b/),
    ]);
  });

  test("a script of one process alone is found, and one of none is missing", async () => {
    expect(await requestAsset(SCRIPT)).toEqual(new Set([200]));
    expect(await requestAsset("/assets/none-12345678.js")).toEqual(new Set([404]));
  });

  test.runIf(name === "Varnish")("pages are cached for what the app's Age leaves, until they are purged", async () => {
    const isHit = async () => (await proxy.send("/example-pages/about")).headers["x-varnish"]?.includes(" ");
    const purge = (localAddress: string) =>
      proxy.send("/example-pages/about", { method: "PURGE", localAddress, family: 4 });
    const ageOf = async () => Number((await proxy.send("/example-pages/about")).headers.age);
    // Rendered at the start, so that the app's copy is older than Varnish's.
    const direct = Number((await fetch(`${servers[0].url}/example-pages/about`)).headers.get("Age"));
    expect(await ageOf()).toBeGreaterThanOrEqual(direct);
    expect([await isHit(), await isHit()]).toEqual([expect.anything(), true]);
    expect((await purge("127.0.0.2")).status).toBe(405);
    expect(await isHit()).toBe(true);
    expect((await purge("127.0.0.1")).status).toBe(200);
    expect(await isHit()).toBe(false);
  });

  test("a process that is killed makes no request fail, and no script a 502", async () => {
    const outcomes = await load(() => servers[0].child.kill("SIGKILL"));
    expect(outcomes).toEqual({ "as expected": expect.any(Number) });
    expect(await requestAsset("/assets/none-12345678.js")).toEqual(new Set([404]));
    expect(await requestAsset(SCRIPT)).toEqual(new Set([200]));
  });

  test("a roll-back, one process after the other, makes no request fail, and no script a 502", async () => {
    const exitCodes: (number | null)[] = [];
    let isOver = false;
    const replaceAll = async () => {
      for (const [index, { url, opsUrl, stop }] of servers.entries()) {
        // The first has been killed, and the third is of the bad release.
        if (index > 0) exitCodes.push(await stop());
        const ports = { PORT: new URL(url).port, OPS_PORT: new URL(opsUrl).port };
        servers[index] = await startServer({ ...SETTINGS, ...ports }, inject("examplesFolder"));
      }
      isOver = true;
    };
    const start = () => void replaceAll();
    const outcomes = await load(start, () => isOver, { ...EXPECTED, [SCRIPT]: [200, 404] });
    expect([exitCodes, outcomes]).toEqual([[0, 0], { "as expected": expect.any(Number) }]);
  });
});
