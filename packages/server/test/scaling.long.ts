// Pods share only their services: any of them serves any user.
import { expect, onTestFinished, test } from "vitest";
import { startNginx } from "./support/nginx.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const VISITORS = 10;
const MIN_VISITS = 300;

test("of three processes one is stopped and one is killed, and no visit fails", async () => {
  const folder = SITE;
  const servers = await Promise.all([1, 2, 3].map(() => startServer({}, folder)));
  const addresses = servers.map(({ url }) => `server ${new URL(url).host};`).join(" ");
  const nginx = await startNginx(
    `upstream pods { ${addresses} keepalive 8; }`,
    // nginx may send a form again, to another process. Signing in twice does no harm.
    "proxy_pass http://pods; proxy_next_upstream error timeout non_idempotent;",
  );
  onTestFinished(nginx.stop);

  const expectVisit = async () => {
    const body = new URLSearchParams({ email: "ada@example.org", password: "engine" });
    const signedIn = await fetch(`${nginx.url}/example-pages/sign-in`, { method: "POST", redirect: "manual", body });
    expect(signedIn.status).toBe(303);
    const cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "";
    const account = await fetch(`${nginx.url}/example-pages/account`, { headers: { Cookie: cookie } });
    expect(await account.text()).toContain("ada@example.org");
    const clock = await fetch(`${nginx.url}/example-pages/kept-clock`);
    expect([clock.status, await clock.text()]).toEqual([200, expect.stringContaining("<time ")]);
  };
  let visits = 0;
  let isOver = false;
  const visitors = Promise.all(
    Array.from({ length: VISITORS }, async () => {
      for (; !isOver; visits++) await expectVisit();
    }),
  );

  const countRenders = async ({ opsUrl }: { opsUrl: string }) =>
    Number(
      /page_cache_renders_total\{result="stored"\} (\d+)/.exec(await (await fetch(`${opsUrl}/metrics`)).text())?.[1],
    );
  const rendersAtStart = await Promise.all(servers.map(countRenders));
  const expectMoreVisits = (count: number) => expect.poll(() => visits, { timeout: 120_000 }).toBeGreaterThan(count);
  await expectMoreVisits(MIN_VISITS);
  for (const [index, server] of servers.entries()) {
    await expect.poll(() => countRenders(server)).toBeGreaterThan((rendersAtStart[index] ?? Number.NaN) + 1);
  }
  const [stopped, killed, other] = servers;
  expect(await stopped?.stop()).toBe(0);
  await expectMoreVisits(visits + MIN_VISITS);
  killed?.child.kill("SIGKILL");
  await expectMoreVisits(visits + MIN_VISITS);
  isOver = true;
  await visitors;
  expect(await other?.stop()).toBe(0);
});
