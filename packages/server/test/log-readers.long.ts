import { once } from "node:events";
import autocannon from "autocannon";
import { findFreePort } from "react-router-express-server/testing";
import { expect, test } from "vitest";
import { SITE } from "./support/site.ts";
import { spawnServer, startServer } from "./support/start-server.ts";

/** The maximum length, in characters, of a client's text in a log line, such as the path. */
const MAX_TEXT_LENGTH = 256;

test.for([
  { event: "stalls", leave: "pause" },
  { event: "goes away", leave: "destroy" },
] as const)("a reader of the log that $event costs no client a response", async ({ leave }) => {
  const { url, child } = await startServer();
  child.stdout[leave]();
  const load = await autocannon({ url, connections: 10, amount: 5000 });
  expect(load["2xx"]).toBe(5000);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a server that starts with a closed standard output serves and stops", async () => {
  const port = String(await findFreePort());
  const command = ["sh", "-c", 'exec "$@" >&-', "sh", process.execPath] as const;
  const { child, lines, exited } = spawnServer({ PORT: port }, SITE, command);
  const getStatus = () => fetch(`http://127.0.0.1:${port}`).then(({ status }) => status, String);
  await expect.poll(getStatus).toBe(200);
  child.kill("SIGTERM");
  expect({ code: await exited, lines }).toEqual({ code: 0, lines: [] });
});

test("a reader that stalls and returns gets one line with the number of dropped lines", async () => {
  const server = await startServer({}, SITE);
  const { child, url, opsUrl, lines } = server;
  const countLost = async () => {
    const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
    return Number(/^log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
  };
  child.stdout.pause();
  const headers = { "User-Agent": "u".repeat(MAX_TEXT_LENGTH) };
  let sent = 0;
  while ((await countLost()) === 0) {
    const load = await autocannon({
      url: `${url}/${"p".repeat(MAX_TEXT_LENGTH)}`,
      headers,
      connections: 10,
      amount: 5000,
    });
    sent += load["4xx"];
  }
  child.stdout.resume();
  await expect.poll(() => lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  expect(await server.stop()).toBe(0);
  const warnings = lines.filter(({ level }) => level === "warn");
  expect(warnings).toMatchObject([{ msg: "log lines dropped: the reader stalled" }]);
  expect(lines.filter(({ msg }) => msg === "request").length + Number(warnings[0]?.lines)).toBe(sent);
});
