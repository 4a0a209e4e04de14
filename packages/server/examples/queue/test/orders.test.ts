import { expect, open, test } from "./support/fixtures.ts";

const order = (url: string, item: string) =>
  fetch(`${url}/orders`, { method: "POST", body: new URLSearchParams({ item }), redirect: "manual" });

test.for([true, false])(
  "an order is saved and packed, with scripts: %s",
  async (javaScriptEnabled, { browser, server }) => {
    const page = await browser.newPage({ javaScriptEnabled });
    if (javaScriptEnabled) await open(page, `${server.url}/orders`);
    else await page.goto(`${server.url}/orders`);
    await page.getByLabel("Article").fill("A lathe");
    await page.getByRole("button", { name: "Order" }).click();
    await page.waitForURL("**/orders?id=*");
    await expect
      .poll(async () => {
        if (!javaScriptEnabled) await page.reload();
        return page.getByRole("status").textContent();
      })
      .toBe("Your order is packed.");
    await page.close();
  },
);

test("the log has the work of a job", async ({ server }) => {
  expect((await order(server.url, "A plane")).status).toBe(303);
  const packed = () => server.lines.filter(({ msg }) => msg === "order packed").map((line) => line.order);
  await expect.poll(packed).toContainEqual({ item: "A plane" });
});

test.for(["", " ", "a".repeat(101)])("%j is no order", async (item, { server }) => {
  expect((await order(server.url, item)).status).toBe(400);
});

test("an unknown order has no state", async ({ server }) => {
  const response = await fetch(`${server.url}/orders?id=1`);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('<p role="status"></p>');
});
