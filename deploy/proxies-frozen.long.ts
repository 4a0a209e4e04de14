// Three processes behind each of nginx.conf, haproxy.cfg and varnish.vcl, while one is frozen.
import { setTimeout } from "node:timers/promises";
import { startServer } from "react-router-express-server/testing";
import { expect, inject, onTestFinished, test } from "vitest";
import { PROXY_NAMES, type RunningProxy, startProxy, toUpstream } from "./start-proxy.ts";

/** For a minute. */
const FEW_REQUESTS = 240;
const INTERVAL_MS = 250;
/** Then a client leaves. */
const PATIENCE_MS = 10_000;

// Few requests are the harder case: soon after a client has left the frozen process, that has the fewest again.
test("a process that freezes makes at most 1 % of few requests fail, and most of the others aren't slow", async () => {
  const start = () => startServer({}, inject("examplesFolder"));
  const servers = await Promise.all([start(), start(), start()]);
  onTestFinished(() => {
    for (const { child } of servers) child.kill("SIGKILL");
  });
  const proxies = await Promise.all(PROXY_NAMES.map((name) => startProxy(name, servers.map(toUpstream))));
  onTestFinished(async () => void (await Promise.all(proxies.map(({ stop }) => stop()))));
  const visit = async (proxy: RunningProxy) => {
    let [failed, slow] = [0, 0];
    const visits = Array.from({ length: FEW_REQUESTS }, async (_, i) => {
      await setTimeout(i * INTERVAL_MS);
      const [path, expected] = i % 2 === 0 ? ["/", 200] : ["/nowhere", 404];
      const startedAt = performance.now();
      // Varnish has cached nothing for this query.
      const sent = proxy.send(`${path}?${i}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
      const isExpected = await sent.then(
        ({ status }) => status === expected,
        () => false,
      );
      if (!isExpected) failed += 1;
      else if (performance.now() - startedAt > PATIENCE_MS / 2) slow += 1;
    });
    await Promise.all(visits);
    return { failed, slow };
  };
  servers[0].child.kill("SIGSTOP");
  const outcomes = await Promise.all(proxies.map(visit));
  console.log(outcomes);
  for (const [index, { failed, slow }] of outcomes.entries()) {
    expect(failed, PROXY_NAMES[index]).toBeLessThanOrEqual(FEW_REQUESTS / 100);
    expect(slow, PROXY_NAMES[index]).toBeLessThanOrEqual(FEW_REQUESTS / 10);
  }
});
