// The statements of docs/sign-in-and-forms.md.
import { expect, open, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const ADA = { email: "ada@example.org", password: "engine" };

const send = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams(fields), headers });

const get = (url: string, cookie = "") => fetch(url, { redirect: "manual", headers: { Cookie: cookie } });

/** The cookie of somebody who has signed in. */
async function signIn(serverUrl: string) {
  const response = await send(`${serverUrl}/example-pages/sign-in`, ADA);
  expect([response.status, response.headers.get("Location")]).toEqual([303, "/example-pages/account"]);
  const [cookie = "", ...attributes] = response.headers.get("Set-Cookie")?.split("; ") ?? [];
  expect(attributes).toEqual(["Max-Age=2592000", "Path=/", "HttpOnly", "Secure", "SameSite=Lax"]);
  return cookie;
}

test("only signed-in users see a private page", async ({ server: { url } }) => {
  const account = `${url}/example-pages/account`;
  const cookie = await signIn(url);
  expect(cookie).toMatch(/^__Host-session=\S{30,}$/);
  const response = await get(account, cookie);
  expect([response.status, response.headers.get("Cache-Control")]).toEqual([200, "private, no-cache"]);
  expect(await response.text()).toContain(ADA.email);
  // A cookie that is missing, changed, cut short or unsigned is invalid.
  for (const wrong of [
    "",
    cookie.replace("=", "=x"),
    cookie.slice(0, -1),
    `__Host-session=${btoa(JSON.stringify(ADA))}`,
  ]) {
    for (const path of [account, `${account}.data`]) {
      const response = await get(path, wrong);
      expect(response.headers.get("Location") ?? (await response.text())).toContain("/example-pages/sign-in");
      expect(response.status).toBe(path === account ? 302 : 202);
    }
  }
  const wrong = await send(`${url}/example-pages/sign-in`, { ...ADA, password: "mill" });
  expect([wrong.status, wrong.headers.get("Set-Cookie")]).toEqual([400, null]);
});

test("servers with the same secret accept each other's sessions", async () => {
  const start = () => startServer({ SESSION_SECRET: "the operators' own, of 32 characters" }, SITE);
  const [one, two] = await Promise.all([start(), start()]);
  expect((await get(`${two.url}/example-pages/account`, await signIn(one.url))).status).toBe(200);
  expect(await Promise.all([one.stop(), two.stop()])).toEqual([0, 0]);
});

test("a cached page can fetch the signed-in user, who isn't in the document", async ({ page, server: { url } }) => {
  const documentOf = async (cookie?: string) => (await get(`${url}/example-pages/welcome`, cookie)).text();
  await open(page, `${url}/example-pages/welcome`);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("E-mail").fill(ADA.email);
  await page.getByLabel("Password").fill(ADA.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Account" }).waitFor();
  await open(page, `${url}/example-pages/welcome`);
  await page.getByText(ADA.email).waitFor();
  expect(await documentOf(await signIn(url))).toBe(await documentOf());
  await open(page, `${url}/example-pages/account`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${url}/example-pages/sign-in`);
  await page.goto(`${url}/example-pages/account`);
  expect(new URL(page.url()).pathname).toBe("/example-pages/sign-in");
});
