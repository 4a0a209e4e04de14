// The statements of docs/sign-in-and-forms.md.
import { existsSync } from "node:fs";
import type { LaunchOptions, Page } from "playwright-core";
import { launchChromium } from "react-router-express-server/testing";
import { onTestFinished } from "vitest";
import { expect, open, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";
import { startServer } from "./support/start-server.ts";

const ADA = { email: "ada@example.org", password: "engine" };

test.override("ignoredMessages", () => /^info: Clear-Site-Data header /);

const send = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams(fields), headers });

const get = (url: string, cookie = "") => fetch(url, { redirect: "manual", headers: { Cookie: cookie } });

/** The cookie of somebody who has signed in. */
async function signIn(serverUrl: string) {
  const response = await send(`${serverUrl}/example-pages/sign-in`, ADA);
  expect(response.headers.get("Cache-Control")).toBe("private, no-store");
  expect([response.status, response.headers.get("Location")]).toEqual([303, "/example-pages/account"]);
  const [cookie = "", ...attributes] = response.headers.get("Set-Cookie")?.split("; ") ?? [];
  expect(attributes).toEqual(["Max-Age=2592000", "Path=/", "HttpOnly", "Secure", "SameSite=Lax"]);
  return cookie;
}

/** Signs in with the form. */
async function signInWithForm(page: Page) {
  await page.getByLabel("E-mail").fill(ADA.email);
  await page.getByLabel("Password").fill(ADA.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Account" }).waitFor();
}

/** Playwright's `goBack` doesn't resolve if the browser restores the page from its back/forward cache. */
async function goBack(page: Page, steps: number) {
  await page.evaluate((steps) => {
    Object.assign(window, { isLeft: true });
    setTimeout(() => history.go(-steps)); // So that `evaluate` resolves before the page is gone.
  }, steps);
  await page.waitForFunction(() => !("isLeft" in window));
}

test("only signed-in users see a private page", async ({ server: { url } }) => {
  const account = `${url}/example-pages/account`;
  const cookie = await signIn(url);
  expect(cookie).toMatch(/^__Host-session=\S{30,}$/);
  const response = await get(account, cookie);
  expect([response.status, response.headers.get("Cache-Control")]).toEqual([200, "private, no-store"]);
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

test("after the sign-in, a user gets the page that a link or a reload has asked for", async ({
  page,
  server: { url },
}) => {
  const path = "/example-pages/account?tab=a%26b";
  const signInPath = `/example-pages/sign-in?${new URLSearchParams({ next: path })}`;
  const visits = [
    () => page.goto(url + path),
    () => page.evaluate((path) => window.__reactRouterDataRouter.navigate(path), path),
  ];
  for (const visit of visits) {
    await open(page, `${url}/example-pages/about`);
    await visit();
    await page.waitForURL(url + signInPath);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signInWithForm(page);
    expect(page.url()).toBe(url + path);
    await page.context().clearCookies();
  }
  const response = await send(url + signInPath, ADA);
  expect([response.status, response.headers.get("Location")]).toEqual([303, path]);
});

test.for([
  "https://evil.example/",
  "//evil.example/",
  "/\\evil.example/",
  "/\t/evil.example/",
  "/.//evil.example/",
  "/a/..//evil.example/",
  "javascript:alert(1)",
  "http://[",
])("a link to the sign-in can't send users to another site: %j", async (next, { server: { url } }) => {
  const response = await send(`${url}/example-pages/sign-in?${new URLSearchParams({ next })}`, ADA);
  expect([response.status, response.headers.get("Location")]).toEqual([303, "/example-pages/account"]);
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
  await signInWithForm(page);
  await open(page, `${url}/example-pages/welcome`);
  await page.getByText(ADA.email).waitFor();
  expect(await documentOf(await signIn(url))).toBe(await documentOf());
  await open(page, `${url}/example-pages/account`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${url}/example-pages/sign-in`);
  await page.goto(`${url}/example-pages/account`);
  expect(new URL(page.url()).pathname).toBe("/example-pages/sign-in");
});

test.for<[path: string, cookie: string, cacheControl: string]>([
  ["notes/1", "", "private, no-cache"],
  ["notes/1", "theme=dark", "private, no-store"],
  ["notes/1.data", "theme=dark", "private, no-store"],
  ["temperature", "theme=dark", "private, no-store"],
  ["response?cache-control=private,%20no-cache", "theme=dark", "private, no-cache"],
  ["welcome", "theme=dark", "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400"],
])("/example-pages/%s for the cookie %j has Cache-Control: %s", async ([path, cookie, cacheControl], { server }) => {
  const { headers } = await fetch(`${server.url}/example-pages/${path}`, { headers: cookie ? { cookie } : {} });
  expect(headers.get("Cache-Control")).toBe(cacheControl);
});

/** chromium-headless-shell has no back/forward cache, and Playwright disables it in the others. */
const WITH_BACK_FORWARD_CACHE: LaunchOptions = {
  executablePath: ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => existsSync(path)) ?? "",
  ignoreDefaultArgs: ["--disable-back-forward-cache"],
};

async function signOut(page: Page, url: string) {
  await open(page, `${url}/example-pages/account`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${url}/example-pages/sign-in`);
}

/** As if the session had expired. */
async function loseCookie(page: Page, url: string) {
  await page.context().clearCookies();
  await open(page, `${url}/example-pages/sign-in`);
}

test.for<[title: string, path: string, steps: number, endSession: typeof signOut, options: LaunchOptions]>([
  ["a private page whose cookie is gone", "account", 1, loseCookie, {}],
  ["the same with a back/forward cache", "account", 1, loseCookie, WITH_BACK_FORWARD_CACHE],
  ["a private page after the sign-out", "account", 1, signOut, {}],
  ["a cached page after the sign-out, with a back/forward cache", "welcome", 2, signOut, WITH_BACK_FORWARD_CACHE],
])("Back shows no user: %s", async ([, path, steps, endSession, options], { server: { url }, skip }) => {
  const hasCache = options === WITH_BACK_FORWARD_CACHE;
  skip(hasCache && !options.executablePath, "needs /usr/bin/chromium or /usr/bin/google-chrome");
  const browser = await launchChromium(options);
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await open(page, `${url}/example-pages/sign-in`);
  await signInWithForm(page);
  await open(page, `${url}/example-pages/${path}`);
  await page.getByText(ADA.email).waitFor();
  await page.evaluate(() => Object.assign(window, { isFirst: true }));
  await open(page, url);
  // Until the session ends, the user may go back.
  await goBack(page, 1);
  await page.getByText(ADA.email).waitFor();
  expect(await page.evaluate(() => "isFirst" in window)).toBe(hasCache);
  await endSession(page, url);
  await goBack(page, steps);
  const shown = page.getByText(new RegExp(`${ADA.email}|^Sign in$`)).first();
  expect(await shown.textContent()).toBe("Sign in");
  expect(await page.content()).not.toContain(ADA.email);
});
