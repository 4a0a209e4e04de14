// The server.ts of README.md, in a copy of the site.
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import request from "supertest";
import { expect, onTestFinished, test } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";
import { startServer } from "./support/start-server.ts";

test("a server of the parts alone sends files, cached pages, rendered pages and errors", async () => {
  const folder = copySite();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(fileURLToPath(new URL("./new-project/server.ts", import.meta.url)), `${folder}/server.ts`);
  await build(folder);
  const { url, stop } = await startServer({}, folder);
  for (const [path, status, cacheStatus] of [
    ["/robots.txt", 200, undefined],
    ["/", 200, expect.stringContaining("; hit")],
    ["/nowhere", 404, expect.stringContaining("; hit")],
    ["/example-pages/notes/1", 200, undefined],
    ["/example-pages/broken/loader", 500, undefined],
  ] as const) {
    const { headers, ...response } = await request(url).get(path);
    expect([path, response.status, headers["cache-status"]]).toEqual([path, status, cacheStatus]);
  }
  const report = request(url).post("/browser-reports").type("application/reports+json").send("[]");
  expect((await report).status).toBe(204);
  expect(await stop()).toBe(0);
});
