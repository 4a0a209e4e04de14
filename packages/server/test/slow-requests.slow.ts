// The log line of a slow request names the part of the site that took the time.
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { afterAll, expect, test } from "vitest";
import { SITE } from "./support/site.ts";

process.env.EVENT_DELAY_MS = "1100";
afterAll(() => delete process.env.EVENT_DELAY_MS);
const { app, lines } = await loadApp({ folder: SITE });

const WAIT = "/example-pages/wait/1100";
const takes = (name: string) => expect.stringMatching(new RegExp(`^${name} \\d{4,} ms$`));

test.each([
  { what: "a page names its slowest loader", path: WAIT, part: takes("loader example-pages/wait") },
  { what: "a page's data names it as well", path: `${WAIT}.data`, part: takes("loader example-pages/wait") },
  {
    what: "a request whose client leaves names the loader that runs",
    path: "/example-pages/wait/60000",
    leaves: true,
    part: takes("loader example-pages/wait"),
  },
  { what: "a streamed page names its render", path: "/example-pages/streamed", part: takes("render") },
  {
    what: "a client that waits for a cached page has its loader",
    path: "/example-pages/events/1",
    part: takes("loader example-pages/event"),
  },
  { what: "the same page from the cache has none", path: "/example-pages/events/1", part: undefined },
  { what: "a fast page has none", path: "/example-pages/wait/0", part: undefined },
  { what: "a file has none", path: "/robots.txt", part: undefined },
])("the log line of $what", async ({ path, leaves, part }) => {
  const before = lines.length;
  const sent = request(app).get(path);
  await (leaves ? sent.timeout(1100).catch(() => {}) : sent);
  const find = () => lines.slice(before).filter(({ msg }) => msg === "request");
  await expect.poll(find).toHaveLength(1);
  expect(find()).toEqual([expect.objectContaining({ "url.path": path })]);
  expect(Object(find()[0]).slowest_part).toEqual(part);
});
