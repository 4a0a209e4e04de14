import { request } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { readProcessMetrics } from "./support/process-metrics.ts";
import { SITE } from "./support/site.ts";
import { type RunningServer, startServer } from "./support/start-server.ts";

const MB = 1024 * 1024;
/** Buffers that aren't collected yet vary this much, with the load of the machine. */
const MAX_GROWTH_MB = 64;
const PART_HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="film.mp4"\r\n\r\n';

/** Sends a form with a file of so many bytes; resolves with what the page's action responds. */
async function upload({ url }: RunningServer, megabytes: number) {
  const headers = { "Content-Type": "multipart/form-data; boundary=b" };
  const sent = request(`${url}/example-pages/upload.data`, { method: "POST", headers });
  const response = new Promise<Readable>((resolve, reject) => sent.on("response", resolve).on("error", reject));
  const chunk = Buffer.alloc(MB);
  await pipeline(Readable.from([PART_HEAD, ...Array<Buffer>(megabytes).fill(chunk), "\r\n--b--\r\n"]), sent);
  return Buffer.concat(await (await response).toArray()).toString();
}

test("an upload of 1 GB goes to disk without filling the memory", { timeout: 600_000 }, async () => {
  const server = await startServer({ NODE_OPTIONS: "--max-old-space-size=48" }, SITE);
  const peakOf = async (megabytes: number) => {
    let isOver = false;
    let peakMB = 0;
    const sampling = (async () => {
      while (!isOver) {
        peakMB = Math.max(peakMB, (await readProcessMetrics(server)).residentMB);
        await setTimeout(100);
      }
    })();
    expect(await upload(server, megabytes)).toContain(`"bytes",${megabytes * MB}`);
    isOver = true;
    await sampling;
    return peakMB;
  };
  const small = await peakOf(128); // With the buffers that a longer upload has, too.
  const large = await peakOf(1024);
  console.log({ small, large });
  expect(large - small).toBeLessThan(MAX_GROWTH_MB);
  expect(await server.stop()).toBe(0);
});
