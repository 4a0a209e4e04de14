import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";

const VCL = new URL("../../../../deploy/varnish.vcl", import.meta.url);
// Debian's Varnish isn't in a user's PATH.
const ENV = { PATH: `${process.env.PATH}:/usr/sbin` };

/** Starts Varnish with the template's file in front of a server. Resolves when it forwards requests. */
export async function startVarnish(port: number, upstream: string) {
  const { error } = spawnSync("varnishd", ["-V"], { env: ENV });
  if (error) throw new Error("This test needs Varnish: on Debian, apt-get install varnish");
  const folder = mkdtempSync(join(tmpdir(), "varnish-"));
  const host = `.host = "127.0.0.1"; .port = "${new URL(upstream).port}"`;
  const vcl = readFileSync(VCL, "utf8").replace(/\.host = "[\d.]+"; \.port = "3000"/g, host);
  writeFileSync(`${folder}/site.vcl`, vcl);
  const url = `http://127.0.0.1:${port}`;
  const listen = ["-a", new URL(url).host, "-f", `${folder}/site.vcl`, "-s", "malloc,64m"];
  // The jail's user can't read the test's folder.
  const varnish = spawn("varnishd", ["-j", "none", "-F", "-n", folder, ...listen], { env: ENV, stdio: "ignore" });
  const exited = once(varnish, "exit");
  const stop = async () => {
    varnish.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const isReady = async () => (await fetch(url).catch(() => undefined))?.ok;
  await vi.waitUntil(isReady, { timeout: 60_000 }).catch((error) => stop().then(() => Promise.reject(error)));
  return { url, stop };
}
