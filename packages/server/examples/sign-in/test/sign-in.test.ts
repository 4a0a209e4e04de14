import { randomUUID } from "node:crypto";
import { expect, open, test } from "./support/fixtures.ts";

const PASSWORD = "four words and more";

/** A new one for each account, since a database may have those of the last run. */
const createAddress = () => `Ada-${randomUUID()}@example.org`;

const post = (url: string, fields: Record<string, string>) =>
  fetch(url, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });

test("a user creates an account, signs out, and signs in again", async ({ page, server, consoleMessages }) => {
  const email = createAddress();
  await open(page, `${server.url}/account`);
  expect(new URL(page.url()).search).toBe("?next=%2Faccount");
  await page.getByRole("link", { name: "Create an account" }).click();
  await page.getByRole("heading", { name: "Create an account" }).waitFor();
  const send = async (button: string, password = PASSWORD) => {
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: button }).click();
  };
  await send("Create account");
  await page.getByText(`You are signed in as ${email.toLowerCase()}.`).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in");

  await open(page, `${server.url}/account`);
  await send("Sign in", "another password");
  await page.getByRole("alert").filter({ hasText: "don't match" }).waitFor();
  await send("Sign in");
  await page.getByText(`You are signed in as ${email.toLowerCase()}.`).waitFor();
  // Chromium logs the header of the sign-out, and the 400.
  const isExpected = /Clear-Site-Data|status of 400/;
  expect(consoleMessages.splice(0).filter((message) => !isExpected.test(message))).toEqual([]);
});

test.for([
  { fault: "no address", path: "/sign-up", fields: { email: "ada", password: PASSWORD } },
  { fault: "a short password", path: "/sign-up", fields: { email: "bob@example.org", password: "short" } },
  { fault: "an unknown address", path: "/sign-in", fields: { email: "eve@example.org", password: PASSWORD } },
])("$path with $fault gets 400 and no session", async ({ path, fields }, { server }) => {
  const response = await post(server.url + path, fields);
  expect([response.status, response.headers.get("Set-Cookie")]).toEqual([400, null]);
});

test("an address has one account", async ({ server }) => {
  const fields = { email: createAddress(), password: PASSWORD };
  expect((await post(`${server.url}/sign-up`, fields)).status).toBe(303);
  expect((await post(`${server.url}/sign-up`, fields)).status).toBe(409);
});

test.for([
  ["/account?tab=1", "/account?tab=1"],
  ["https://evil.example", "/account"],
  ["//evil.example", "/account"],
] as const)("after the sign-in, %j leads to %j", async ([next, expected], { server }) => {
  const url = `${server.url}/sign-up?${new URLSearchParams({ next })}`;
  const response = await post(url, { email: createAddress(), password: PASSWORD });
  expect(new URL(String(response.headers.get("Location")), server.url).href).toBe(server.url + expected);
  expect(response.headers.get("Set-Cookie")).toMatch(/^__Host-session=.*; HttpOnly; Secure; SameSite=Lax$/);
});

test("a changed cookie is no session", async ({ server }) => {
  const { headers } = await post(`${server.url}/sign-up`, { email: createAddress(), password: PASSWORD });
  const [cookie = ""] = headers.get("Set-Cookie")?.split(";") ?? [];
  const get = (value: string) => fetch(`${server.url}/account`, { headers: { Cookie: value }, redirect: "manual" });
  const page = await get(cookie);
  expect([page.status, page.headers.get("Cache-Control")]).toEqual([200, "private, no-store"]);
  expect((await get(cookie.replace("=", "=e"))).status).toBe(302);
});
