import { setTimeout } from "node:timers/promises";
import { expect, test } from "./support/fixtures.ts";

const PAGES = "/example-pages";

test("a body that fails in the middle is logged, and the client sees that it is incomplete", async ({
  server: { url, lines },
}) => {
  const response = await fetch(`${url}${PAGES}/response?fails=yes&lines=2`);
  await expect(response.text()).rejects.toThrow();
  await expect
    .poll(() => lines.filter(({ msg }) => msg === "body failed"))
    .toMatchObject([{ "exception.message": "secret of the body" }]);
});

test.for([
  ["sends chunks", "application/octet-stream", "count=9999&bytes=65536"],
  ["waits", "text/event-stream", "count=9999&bytes=9&ms=10"],
  ["compresses", "text/plain", "count=999999&bytes=65536"],
])("a stream is cancelled when its client leaves while it %s", async ([, type, query], { server: { url } }) => {
  const count = async () => (await (await fetch(`${url}${PAGES}/chunks`)).json()).cancelled;
  const before = await count();
  const controller = new AbortController();
  // The test holds the response: Node's `fetch` cancels one that is garbage-collected.
  const { body } = await fetch(`${url}${PAGES}/chunks?${query}&type=${type}`, controller);
  const reader = body?.getReader();
  await reader?.read();
  await setTimeout(100);
  expect(await count()).toBe(before);
  controller.abort();
  await expect(reader?.closed).rejects.toThrow("aborted");
  await expect.poll(count).toBe(before + 1);
});
