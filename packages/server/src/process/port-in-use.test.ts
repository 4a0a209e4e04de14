import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { describePortInUse } from "./port-in-use.ts";

async function listen(host: string) {
  const server = createServer().listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test.runIf(process.platform === "linux").each(["127.0.0.1", "::1"])(
  "a port in use at %s is named with the process that has it",
  async (host) => {
    const port = await listen(host);
    expect(describePortInUse(port, 0)).toBe(
      `is in use by process ${process.pid} (node in ${process.cwd()}): stop it, or set another port`,
    );
    expect(describePortInUse(port)).toBe("is in use by this server: set another port");
  },
);

test("where the process isn't known, only the port is named", () => {
  expect(describePortInUse(0)).toBe("is in use: set another port");
});
