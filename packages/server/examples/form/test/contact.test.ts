import { expect, open, test } from "./support/fixtures.ts";

const VALID = { name: "Ada", email: "ada@example.org", text: "Good morning" };

test.for([
  { fault: "no name", change: { name: " " }, error: "Enter your name." },
  { fault: "no address", change: { email: "ada" }, error: "Enter an address, such as ada@example.org." },
  { fault: "no text", change: { text: "" }, error: "Write what we can do for you." },
])("a message with $fault gets 400, and keeps what is written", async ({ change, error }, { server }) => {
  const body = new URLSearchParams({ ...VALID, ...change });
  const response = await fetch(`${server.url}/contact`, { method: "POST", body });
  expect(response.status).toBe(400);
  const html = await response.text();
  expect(html).toContain(error);
  for (const value of Object.values({ ...VALID, ...change })) expect(html).toContain(value);
});

test("without scripts, a valid message is sent", async ({ browser, server }) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(`${server.url}/contact`);
  for (const [name, value] of Object.entries(VALID)) await page.locator(`[name=${name}]`).fill(value);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("status").waitFor();
  expect(new URL(page.url()).search).toBe("?sent");
  await page.close();
});

test("with scripts, errors show without a request, and the first invalid field has the focus", async ({
  page,
  server,
}) => {
  await open(page, `${server.url}/contact`);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.method()));
  await page.getByLabel("Name").fill("Ada");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Enter an address").waitFor();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("email");
  expect(requests).not.toContain("POST");

  await page.getByLabel("E-mail").fill(VALID.email);
  await page.getByLabel("Message").fill(VALID.text);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("status").waitFor();
  expect(requests).toContain("POST");
});
