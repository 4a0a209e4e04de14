import { execFile, execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import autocannon from "autocannon";
import { cpuSeconds, type Running } from "./servers.ts";

export type ClientRequest = { path: string; headers: Record<string, string> };

export const CONNECTIONS = 64;
/** The timeout of a response. On a busy machine, a render takes long. */
const TIMEOUT_SECONDS = 60;

/** The load generator: wrk if it is installed, since it takes less CPU time than the servers. */
export const GENERATOR = isInstalled("wrk") ? "wrk" : "autocannon";

function isInstalled(program: string) {
  try {
    execFileSync("which", [program]);
    return true;
  } catch {
    return false;
  }
}

/** Sends the requests in turn, repeatedly, for this many seconds. Rejects if one gets no response. */
export async function load(running: Running, requests: ClientRequest[], seconds: number) {
  const before = cpuSeconds(running);
  const send = GENERATOR === "wrk" ? sendByWrk : sendByAutocannon;
  const served = await send(running.url, requests, seconds);
  return { perSecond: served / seconds, cpuMicroseconds: ((cpuSeconds(running) - before) / served) * 1e6 };
}

async function sendByWrk(url: string, requests: ClientRequest[], seconds: number) {
  const { host } = new URL(url);
  const messages = requests.map(({ path, headers }) => {
    const fields = Object.entries({ ...headers, host }).map(([name, value]) => `${name}: ${value}\r\n`);
    return `GET ${path} HTTP/1.1\r\n${fields.join("")}\r\n`;
  });
  const script = join(tmpdir(), `requests-${process.pid}.lua`);
  // These strings are written in Lua as in JSON.
  writeFileSync(
    script,
    `local messages = { ${messages.map((message) => JSON.stringify(message)).join(", ")} }
     local last = 0
     request = function()
       last = last % #messages + 1
       return messages[last]
     end`,
  );
  const options = {
    threads: 1,
    connections: CONNECTIONS,
    duration: `${seconds}s`,
    timeout: `${TIMEOUT_SECONDS}s`,
    script,
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const { stdout } = await promisify(execFile)("wrk", [...args, url]);
  rmSync(script);
  if (stdout.includes("Socket errors")) throw new Error(stdout);
  return Number(/(\d+) requests in/.exec(stdout)?.[1]);
}

async function sendByAutocannon(url: string, requests: ClientRequest[], duration: number) {
  const result = await autocannon({ url, connections: CONNECTIONS, duration, requests, timeout: TIMEOUT_SECONDS });
  if (result.errors > 0) throw new Error(`${result.errors} requests failed`);
  return result.requests.total;
}
