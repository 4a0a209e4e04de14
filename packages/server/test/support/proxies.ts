import { onTestFinished } from "vitest";
import { startProxy, toUpstream } from "../../../../deploy/start-proxy.ts";
import type { RunningServer } from "./start-server.ts";

/** Starts nginx and HAProxy with the files of deploy/ in front of three servers, until the end of the test. */
export async function startProxies(servers: RunningServer[]) {
  const upstreams = servers.map(toUpstream);
  const proxies = await Promise.all([startProxy("nginx", upstreams), startProxy("HAProxy", upstreams)]);
  onTestFinished(async () => void (await Promise.all(proxies.map(({ stop }) => stop()))));
  return proxies;
}
