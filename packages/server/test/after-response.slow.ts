// Work that an action leaves for after its response (docs/uploads-and-streams.md).
import { expect, test } from "vitest";
import { startServer } from "./support/start-server.ts";

const PATH = "/example-pages/after";

const order = (url: string, query: string) => fetch(`${url}${PATH}?${query}`, { method: "POST" });
const readSent = async (url: string) => (await (await fetch(url + PATH)).json()).sent;

test("a response doesn't wait for the work, and the work's error is logged", async () => {
  const { url, lines, stop } = await startServer();
  expect(await (await order(url, "name=a&ms=500")).json()).toEqual({ sent: [] });
  await expect.poll(() => readSent(url)).toEqual(["a"]);
  expect((await order(url, "fails&ms=0")).status).toBe(200);
  await expect.poll(() => lines.map(({ msg }) => msg)).toContain("work after the response failed");
  expect(lines.find(({ msg }) => msg === "work after the response failed")).toMatchObject({
    "http.route": PATH,
    "exception.message": "no connection",
  });
  expect(await stop()).toBe(0);
});

test("a request keeps its slot until its work has ended", async () => {
  const { url, stop } = await startServer({ MAX_CONCURRENT_REQUESTS: "1", MAX_OPEN_RESPONSES: "1" });
  await order(url, "name=a&ms=1000");
  await order(url, "name=b&ms=1000");
  // Without the slots, the response would be sent before the work ends.
  expect(await (await order(url, "name=c&ms=0")).json()).toEqual({ sent: ["a", "b"] });
  expect(await stop()).toBe(0);
});

test.each([
  ["that ends soon", 500, []],
  ["that hangs, for a second", 60_000, ["work after responses not done"]],
])("a shutdown waits for work %s", async (_label, ms, logged) => {
  const { url, lines, stop } = await startServer();
  await order(url, `name=a&ms=${ms}`);
  expect(await stop()).toBe(0);
  expect(lines.map(({ msg }) => msg).filter((msg) => msg === "work after responses not done")).toEqual(logged);
});
