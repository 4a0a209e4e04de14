import { expect, open, test } from "./support/fixtures.ts";

test.for([
  ["/dashboard", 7],
  ["/dashboard?days=14", 14],
  ["/dashboard?days=1000000", 7],
] as const)("%s has the numbers of %i days without scripts", async ([path, days], { server }) => {
  const response = await fetch(server.url + path);
  expect([response.status, response.headers.get("Cache-Control")]).toEqual([200, "private, no-cache"]);
  const html = await response.text();
  expect(html.match(/<rect/g)).toHaveLength(days);
  expect(html).toContain("Visitors now");
});

test.for([
  ["", 7],
  ["?days=28", 28],
  ["?days=x", 7],
] as const)("the API with %j has %i days", async ([query, days], { server }) => {
  const numbers = await (await fetch(`${server.url}/dashboard/numbers${query}`)).json();
  expect(numbers.days).toHaveLength(days);
  expect(numbers.orders).toBe(numbers.days.reduce((sum: number, day: { orders: number }) => sum + day.orders, 0));
});

test("the numbers are updated, until the user stops that", async ({ page, server }) => {
  await page.clock.install();
  await open(page, `${server.url}/dashboard`);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  const read = () => page.locator("figure time").getAttribute("datetime");
  const first = await read();
  await page.clock.runFor(6000);
  await expect.poll(read).not.toBe(first);
  expect(requests).toContain(`${server.url}/dashboard/numbers?days=7`);

  await page.getByRole("checkbox").uncheck();
  const count = requests.length;
  await page.clock.runFor(20_000);
  expect(requests).toHaveLength(count);
});

test("another period shows its numbers, and is in the URL", async ({ page, server }) => {
  await open(page, `${server.url}/dashboard`);
  await page.getByLabel("Period").selectOption("14 days");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("Orders in 14 days").waitFor();
  expect(new URL(page.url()).search).toBe("?days=14");
});

test("if the API fails, the numbers stay, and the user can try again", async ({ page, server, consoleMessages }) => {
  await page.clock.install();
  await open(page, `${server.url}/dashboard`);
  await page.route("**/dashboard/numbers*", (route) => route.fulfill({ status: 503 }));
  for (let seconds = 0; seconds < 60; seconds++) {
    await page.clock.runFor(1000);
    if ((await page.getByRole("alert").textContent()) !== "") break;
  }
  await page.getByRole("button", { name: "Try again" }).waitFor();
  expect(await page.getByText("Visitors now").isVisible()).toBe(true);
  await page.unroute("**/dashboard/numbers*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Try again" }).waitFor({ state: "detached" });
  expect(consoleMessages.splice(0).filter((message) => !message.includes("status of 503"))).toEqual([]);
});
