import { randomUUID } from "node:crypto";
import { expect, open, test } from "./support/fixtures.ts";

const PASSWORD = "four words and more";

/** A new one for each account, since a database may have those of the last run. */
const createAddress = () => `Ada-${randomUUID()}@example.org`;

const post = (url: string, fields: Record<string, string>, headers = {}) =>
  fetch(url, { method: "POST", body: new URLSearchParams(fields), redirect: "manual", headers });

test("a user registers, logs out, and logs in again", async ({ page, server, consoleMessages }) => {
  const email = createAddress();
  await open(page, `${server.url}/profile`);
  expect(new URL(page.url()).search).toBe("?next=%2Fprofile");
  await page.getByRole("link", { name: "Register" }).click();
  await page.getByLabel("Name").fill("Ada");
  const send = async (button: string, password = PASSWORD) => {
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: button }).click();
  };
  await send("Register");
  await page.getByText(`You are Ada, ${email.toLowerCase()}.`).waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL("**/log-in");

  await open(page, `${server.url}/profile`);
  await send("Log in", "another password");
  await page.getByRole("alert").filter({ hasText: "Invalid email or password" }).waitFor();
  await send("Log in");
  await page.getByText(`You are Ada, ${email.toLowerCase()}.`).waitFor();
  // Chromium logs the header of the log-out, and the 401.
  const isExpected = /Clear-Site-Data|status of 401/;
  expect(consoleMessages.splice(0).filter((message) => !isExpected.test(message))).toEqual([]);
});

test.for([
  ["/register", { name: "Bob", email: "bob", password: PASSWORD }, 400],
  ["/register", { name: "Bob", email: "bob@example.org", password: "short" }, 400],
  ["/log-in", { email: "eve@example.org", password: PASSWORD }, 401],
] as const)("%s with %j gets %i and no session", async ([path, fields, status], { server }) => {
  const response = await post(server.url + path, fields);
  expect([response.status, response.headers.getSetCookie()]).toEqual([status, []]);
});

test("an address has one account", async ({ server }) => {
  const fields = { name: "Carol", email: createAddress(), password: PASSWORD };
  expect((await post(`${server.url}/register`, fields)).status).toBe(303);
  expect((await post(`${server.url}/register`, fields)).status).toBe(422);
});

test.for([
  ["/profile?tab=1", "/profile?tab=1"],
  ["https://evil.example", "/profile"],
  ["//evil.example", "/profile"],
] as const)("after the registration, %j leads to %j", async ([next, expected], { server }) => {
  const url = `${server.url}/register?${new URLSearchParams({ next })}`;
  const response = await post(url, { name: "Dan", email: createAddress(), password: PASSWORD });
  expect(new URL(String(response.headers.get("Location")), server.url).href).toBe(server.url + expected);
  expect(response.headers.getSetCookie()[0]).toMatch(/^__Secure-better-auth.session_token=.*HttpOnly.*SameSite=Lax/);
});

test("a session shows the profile, ends with the log-out, and a changed cookie is none", async ({ server }) => {
  const fields = { name: "Fay", email: createAddress(), password: PASSWORD };
  const { headers } = await post(`${server.url}/register`, fields);
  const [cookie = ""] = headers.getSetCookie()[0]?.split(";") ?? [];
  const get = (value: string) => fetch(`${server.url}/profile`, { headers: { Cookie: value }, redirect: "manual" });
  const page = await get(cookie);
  expect([page.status, page.headers.get("Cache-Control")]).toEqual([200, "private, no-store"]);
  expect((await get(cookie.replace("=", "=e"))).status).toBe(302);
  expect((await post(`${server.url}/log-out`, {}, { Cookie: cookie })).status).toBe(303);
  expect((await get(cookie)).status).toBe(302);
});

test("Better Auth's own addresses respond, also below a path", async ({ server }) => {
  expect(await (await fetch(`${server.url}/auth/ok`)).json()).toEqual({ ok: true });
  const { headers } = await fetch(`${server.url}/auth/callback/unknown`, { redirect: "manual" });
  const { pathname } = new URL(String(headers.get("Location")), server.url);
  expect(pathname).toBe(`${new URL(`${server.url}/auth/error`).pathname}`);
});
