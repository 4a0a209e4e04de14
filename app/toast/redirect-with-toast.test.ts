import { expect, test } from "vitest";
import { readToast, redirectWithToast } from "./redirect-with-toast";

/** The first part of a `Set-Cookie` header. */
const cookieOf = (response: Response) => response.headers.get("Set-Cookie")?.split("; ")[0] ?? "";

test.for([
  { title: "Saved" },
  { title: 'é 你好 👋 <b>"&amp;=+%\\', description: "a;b, c\r\nSet-Cookie: d=e" },
  { title: "It can't be deleted", description: undefined, variant: "destructive" as const },
])("a cookie brings the toast %j to its page", (toast) => {
  const cookie = cookieOf(redirectWithToast("/käse list?page=2#top", toast));
  expect(cookie).toMatch(/^__Host-toast=[\w=%&.*+-]+$/);
  const cookies = `a__Host-toast=1; ${cookie}; b=2`;
  const { description, ...others } = toast;
  expect(readToast(cookies, "/käse list")).toEqual({ ...others, ...(description && { description }) });
  expect(readToast(cookies, "https://example.org/k%C3%A4se%20list?page=3")).toEqual(readToast(cookies, "/käse list"));
  expect(readToast(cookies, "/")).toBe(undefined);
});

test.for(["", "a=1", "__Host-toast=", "__Host-toast=%", "__Host-toast=to=%2Fb&title=c"])(
  "no toast is in the cookies %j",
  (cookies) => {
    expect(readToast(cookies, "/a")).toBe(undefined);
  },
);

test("a request without cookies has no toast", () => {
  expect(readToast(null, "/a")).toBe(undefined);
});

test.for(["x", "你", "👋", ";"])("of long texts of %s, the first 200 code units fit into a cookie", (character) => {
  const long = character.repeat(5000);
  const toast = { title: long, description: long, variant: "destructive" as const };
  const cookie = cookieOf(redirectWithToast(`/${"segment/".repeat(30)}`, toast));
  expect(cookie.length).toBeLessThanOrEqual(4096);
  expect(readToast(cookie, `/${"segment/".repeat(30)}`)?.title).toBe(long.slice(0, 200));
});

test("the response has the status and the headers of `init`", () => {
  const init = { status: 302, headers: { "Set-Cookie": "a=1", "Cache-Group-Invalidation": '"notes"' } };
  const { status, headers } = redirectWithToast("/notes", { title: "Saved" }, init);
  expect(status).toBe(302);
  expect(headers.get("Cache-Group-Invalidation")).toBe('"notes"');
  expect(headers.getSetCookie()).toEqual(["a=1", expect.stringMatching(/^__Host-toast=.*; Secure; SameSite=Lax$/)]);
  expect(redirectWithToast("/notes", { title: "Saved" }).status).toBe(303);
});
