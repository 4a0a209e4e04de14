import { startServer } from "react-router-express-server/testing";
import { onTestFinished } from "vitest";
import { expect, open, test } from "./support/fixtures.ts";

test("the page shows a new time again and again, and keeps no stream after it is left", async ({ page, server }) => {
  await open(page, `${server.url}/clock`);
  const read = () => page.locator("main time").getAttribute("datetime");
  const first = await read();
  await expect.poll(read).not.toBe(first);
  const closed = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/ticks"));
  await page.getByRole("link", { name: "Greeting" }).click();
  await closed;
});

test("a stream ends at shutdown", async () => {
  const server = await startServer();
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const response = await fetch(`${server.url}/ticks`);
  expect(response.headers.get("Content-Type")).toMatch(/^text\/event-stream/);
  const reading = response.text();
  expect(await server.stop()).toBe(0);
  expect(await reading).toMatch(/^data: \d{4}-.*Z\n\n/);
});
