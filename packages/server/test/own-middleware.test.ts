// The rate limit of test/site/server.ts, an Express middleware behind `admit`.
import { expect, test } from "vitest";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const PATH = "/example-pages/vote";

test("a rate limit counts a form's requests by client, with scripts and without", async () => {
  const { url, stop } = await startServer({ TRUST_PROXY: "loopback" }, SITE);
  const send = (client: string, path: string, init: RequestInit) =>
    fetch(url + path, { ...init, headers: { "X-Forwarded-For": client } });
  const vote = (client: string, path = PATH) =>
    send(client, path, { method: "POST", body: new URLSearchParams({ vote: "yes" }) });

  const responses = [await vote("192.0.2.1"), await vote("192.0.2.1", `${PATH}.data`), await vote("192.0.2.1")];
  const limited = await vote("192.0.2.1", `${PATH}.data`);
  expect([...responses, limited].map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(Number(limited.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect(limited.headers.get("X-Content-Type-Options")).toBe("nosniff");

  expect((await send("192.0.2.1", PATH, { method: "GET" })).status).toBe(200);
  expect((await vote("192.0.2.2")).status).toBe(200);
  expect(await stop()).toBe(0);
});
