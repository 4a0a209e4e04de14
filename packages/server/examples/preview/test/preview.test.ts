import { expect, open, test } from "./support/fixtures.ts";

const PREVIEW_SECRET = "a-made-up-secret-of-32-characters-or-more";

const enter = (url: string, secret: string) =>
  fetch(`${url}/preview`, { method: "POST", body: new URLSearchParams({ secret }), redirect: "manual" });

test("an editor enters, sees drafts, and leaves", async ({ page, server }) => {
  await open(page, `${server.url}/preview`);
  await page.getByLabel("Secret").fill(PREVIEW_SECRET);
  await page.getByRole("button", { name: "See drafts" }).click();
  await page.getByRole("heading", { name: "Open on Sundays Draft" }).waitFor();
  await page.getByRole("button", { name: "Leave the preview" }).click();
  await page.getByText("You see drafts").waitFor({ state: "detached" });
  expect(await page.getByRole("heading").allTextContents()).toEqual(["News", "A new lathe ", "We have moved "]);
});

test.for(["/news", "/news.data"])(
  "%s of an editor isn't cached, and visitors get the cached one",
  async (path, { server }) => {
    const [cookie = ""] = (await enter(server.url, PREVIEW_SECRET)).headers.get("Set-Cookie")?.split(";") ?? [];
    const get = async (headers = {}) => {
      const response = await fetch(server.url + path, { headers });
      const { status } = response;
      return [status, response.headers.get("Cache-Control"), (await response.text()).includes("Open on Sundays")];
    };
    const cached = [200, expect.stringMatching(/^public.*s-maxage/), false];
    expect(await get()).toEqual(cached);
    expect(await get({ Cookie: cookie })).toEqual([200, "private, no-store", true]);
    expect(await get()).toEqual(cached);
    // A changed cookie is a visitor's.
    expect(await get({ Cookie: cookie.replace("=", "=e") })).toEqual(cached);
  },
);

test("a wrong secret gets 400 and no cookie", async ({ server }) => {
  const response = await enter(server.url, "another");
  expect([response.status, response.headers.get("Set-Cookie")]).toEqual([400, null]);
});
