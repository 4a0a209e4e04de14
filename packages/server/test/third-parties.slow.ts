// Pages that add to the security headers. The parties are stubs: what a policy blocks never gets to them.
import type { BrowserContext, Page } from "playwright-core";
import { test as base, expect, NOT_FOUND_MESSAGES } from "./support/fixtures.ts";

const GOOGLE = `window.google = { accounts: { id: {
  initialize(options) { addEventListener("message", ({ data }) => options.callback(data)); },
  renderButton(parent) {
    const button = parent.appendChild(document.createElement("button"));
    button.onclick = () => open("https://accounts.google.com/gsi/select", "", "popup");
  },
} } };`;
const STUBS: Record<string, { contentType: string; body: string }> = {
  "https://accounts.google.com/gsi/client": { contentType: "text/javascript", body: GOOGLE },
  "https://accounts.google.com/gsi/select": {
    contentType: "text/html",
    body: '<script>opener.postMessage({ credential: "from Google" }, "*")</script>',
  },
  "https://statistics.example.org/count.js": { contentType: "text/javascript", body: "isCounted = true" },
  "https://images.example.org/photo.svg": {
    contentType: "image/svg+xml",
    body: '<svg xmlns="http://www.w3.org/2000/svg" width="42" height="42" />',
  },
  "https://video.example.org/film": {
    contentType: "text/html",
    body: "<script>document.write(document.fullscreenEnabled)</script>",
  },
  "https://api.example.org/rate": { contentType: "text/plain", body: "1.23" },
};

async function stubParties(context: BrowserContext) {
  await context.route(/^https:/, (route) => {
    const headers = { "Access-Control-Allow-Origin": "*" };
    return route.fulfill({ ...STUBS[route.request().url()], headers });
  });
}

const test = base
  .extend("newPage", { scope: "file" }, async ({ browser }) => {
    const context = await browser.newContext();
    context.setDefaultTimeout(60_000);
    await stubParties(context);
    return () => context.newPage();
  })
  // Passkeys need a host name, not an IP address.
  .extend("url", ({ server }) => server.url.replace("127.0.0.1", "localhost"));

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);

const STARTS = [
  { how: "on a first load", start: undefined },
  { how: "when the browser navigates there", start: "/" },
  { how: "when the browser comes from a page with other additions", start: "/example-pages/log-in" },
  { how: "when the browser comes from an error page", start: "/example-pages/notes/3" },
];

async function arrive(page: Page, url: string, path: string, start?: string) {
  await page.goto(url + (start ?? path));
  if (start !== undefined) {
    await page.waitForFunction(() => window.__reactRouterDataRouter);
    await page.evaluate((path) => {
      Object.assign(window, { isLeft: true });
      window.__reactRouterDataRouter.navigate(path);
    }, path);
  }
  // In the page's own document, hydrated.
  await page.waitForFunction(() => !("isLeft" in window) && Object.keys(document.querySelector("h1") ?? {}).length > 0);
}

test.for(STARTS)("a page may use passkeys $how", async ({ start }, { page, url }) => {
  const protocol = await page.context().newCDPSession(page);
  await protocol.send("WebAuthn.enable");
  const { authenticatorId } = await protocol.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  const key = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
  const privateKey = Buffer.from(await crypto.subtle.exportKey("pkcs8", key.privateKey)).toString("base64");
  const credential = { credentialId: "AQID", isResidentCredential: true, rpId: "localhost", userHandle: "AQID" };
  await protocol.send("WebAuthn.addCredential", {
    authenticatorId,
    credential: { ...credential, privateKey, signCount: 1 },
  });
  await arrive(page, url, "/example-pages/passkey", start);
  await page.getByRole("button").click();
  await expect.poll(() => page.getByRole("status").textContent()).toBe("Signed in with a public-key");
});

test.for(STARTS)("Google's pop-up reaches the page that opened it $how", async ({ start }, { page, url }) => {
  await arrive(page, url, "/example-pages/google", start);
  await page.getByRole("main").getByRole("button").click();
  await expect.poll(() => page.getByRole("status").textContent()).toBe("from Google");
});

test.for(STARTS)(
  "a page may use the script, image, frame and API of its policy $how",
  async ({ start }, { page, url }) => {
    await arrive(page, url, "/example-pages/third-parties", start);
    await expect.poll(() => page.getByRole("status").textContent()).toBe("1.23");
    await expect.poll(() => page.evaluate("isCounted")).toBe(true);
    await expect
      .poll(() => page.getByRole("img").evaluate((image) => (image as HTMLImageElement).naturalWidth))
      .toBe(42);
    await expect.poll(() => page.frameLocator("iframe").locator("body").textContent()).toBe("true");
  },
);

test.for([true, false])(
  "a form may be redirected to an identity provider, whose form comes back (JavaScript: %s)",
  async (javaScriptEnabled, { browser, server }) => {
    const context = await browser.newContext({ javaScriptEnabled });
    await stubParties(context);
    const page = await context.newPage();
    // Playwright can't stub the target of a redirect, so that request fails. The policy doesn't block it.
    const isSent = page.waitForEvent("request", (request) => request.url().startsWith("https://login.example.org"));
    await page.goto(`${server.url}/example-pages/log-in`);
    await page.getByRole("button").click();
    const state = new URL((await isSent).url()).searchParams.get("state");

    await context.addCookies([{ name: "lax", value: "1", url: server.url, sameSite: "Lax" }]);
    const callback = `${server.url}/example-pages/log-in-callback`;
    const body = `<form method="post" action="${callback}"><button name="state" value="${state}">Continue</button></form>`;
    const provider = await context.newPage(); // In the first page, the failed request still navigates.
    await provider.route("https://login.example.org/", (route) => route.fulfill({ contentType: "text/html", body }));
    await provider.goto("https://login.example.org/");
    const isPosted = provider.waitForRequest(callback);
    await provider.getByRole("button").click();
    expect((await (await isPosted).allHeaders()).cookie).toMatch(/^__Host-state=[^;]+$/);
    await provider.waitForURL(`${server.url}/example-pages/sign-in?next=%2Fexample-pages%2Faccount`);
    await context.close();
  },
);
