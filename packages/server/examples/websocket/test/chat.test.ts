import { once } from "node:events";
import { startServer } from "react-router-express-server/testing";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { expect, open, test } from "./support/fixtures.ts";

/** Opens a WebSocket, and resolves with the client and its status, or its error. */
async function connect(url: string, path: string, origin = new URL(url).origin) {
  const client = new WebSocket(url.replace("http", "ws") + path, { origin });
  onTestFinished(() => client.terminate());
  const status = await new Promise((resolve) => {
    client.on("error", resolve);
    client.once("open", () => resolve(101));
    client.once("unexpected-response", (_request, response) => resolve(response.statusCode));
  });
  return { client, status };
}

test("a message shows on each open page, and on one that is opened later", async ({ page, newPage, server }) => {
  const text = "Good morning <b>";
  const other = await newPage();
  for (const opened of [page, other]) await open(opened, `${server.url}/chat`);
  const send = page.getByRole("button", { name: "Send" });
  await expect.poll(() => send.isEnabled()).toBe(true);
  await expect.poll(() => other.getByRole("button", { name: "Send" }).isEnabled()).toBe(true);
  await page.getByLabel("Message", { exact: true }).fill(text);
  await send.click();
  for (const opened of [page, other]) await opened.getByRole("listitem").filter({ hasText: text }).waitFor();
  await open(other, `${server.url}/chat`);
  await other.getByRole("listitem").filter({ hasText: text }).waitFor();
  await other.close();
});

test.for([
  ["this site", "/chat/socket", undefined, 101],
  ["another site", "/chat/socket", "https://evil.example", 403],
  ["this site, at another path", "/chat/other", undefined, 404],
] as const)("a WebSocket of %s at %s has its status", async ([, path, origin, status], { server }) => {
  expect((await connect(server.url, path, origin)).status).toBe(status);
});

test("a message that is too long closes the connection", async ({ server }) => {
  const { client, status } = await connect(server.url, "/chat/socket");
  expect(status).toBe(101);
  client.send("x".repeat(3000));
  const [code] = await once(client, "close");
  expect(code).toBe(1009); // Message too big: RFC 6455 §7.4.1.
});

test("at shutdown, connections are closed, and the server exits", async () => {
  const server = await startServer();
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const { client, status } = await connect(server.url, "/chat/socket");
  expect(status).toBe(101);
  const closed = once(client, "close");
  expect(await server.stop()).toBe(0);
  expect((await closed)[0]).toBe(1001);
});
