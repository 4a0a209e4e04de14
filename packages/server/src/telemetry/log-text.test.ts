import { expect, test } from "vitest";
import { withoutPrivateParts } from "./log-text.ts";

test.each([
  ["https://a.org/x?token=1#part", "https://a.org/x"],
  ["https://user:pass@a.org/x", "https://a.org/x"],
  ["//user@a.org", "//a.org"],
  ["/x?pin:1234", "/x"],
  ["wss://a.org?token=1", "wss://a.org"],
  ["data:text/html,secret", "data:"],
  ["DATA:text/html;base64,c2VjcmV0", "data:"],
  ['No route matches URL "/x?token=1"', 'No route matches URL "/x'],
  ["fetching\nhttps://a.org/x?a=1 and\t/y#b failed", "fetching\nhttps://a.org/x and\t/y failed"],
  ["x?.y isn't a function. Is '#app' meant?", "x?.y isn't a function. Is '#app' meant?"],
  ["", ""],
])("%j is logged as %j", (text, logged) => {
  expect(withoutPrivateParts(text)).toBe(logged);
});

test("the frames of a stack keep their lines and columns", () => {
  const stack = "at f (data:text/javascript,secret:2:8)\nat https://a.org/x.js?t=1:2&b:10:5";
  expect(withoutPrivateParts(stack, true)).toBe("at f (data::2:8)\nat https://a.org/x.js:10:5");
});
