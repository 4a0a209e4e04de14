import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { ChangedHtmlError } from "./changed-html-error.ts";
import { replaceNonce } from "./content-security-policy.ts";

const ENTRY = "/assets/entry.client-1.js";
const CODE = `import("${ENTRY}")`;

test("a document of this React has no nonce in the cache, and its script is allowed", () => {
  const dangerouslySetInnerHTML = { __html: CODE };
  const html = renderToStaticMarkup(createElement("script", { nonce: "n", dangerouslySetInnerHTML }));
  const { html: cached, inline } = replaceNonce(html, "n", ENTRY);
  expect(cached).toBe(`<script>${CODE}</script>`);
  expect(inline.scripts).toEqual([expect.stringMatching(/^'sha256-/)]);
});

test("a page without scripts stays as it is", () => {
  expect(replaceNonce("<p>a</p>", "n", ENTRY)).toEqual({ html: "<p>a</p>", inline: { scripts: [], styles: [] } });
});

test.each([
  ["no nonce", `<script>${CODE}</script>`],
  ["a nonce in other quotes", `<script nonce='n'>${CODE}</script>`],
  ["a nonce without quotes", `<script nonce=n>${CODE}</script>`],
  ["a nonce in upper case", `<script NONCE="n">${CODE}</script>`],
  ["its nonce on a preload alone", `<link nonce="n" href="${ENTRY}"/><script>${CODE}</script>`],
])("if React renders %s, the page fails, since browsers would block its scripts", (_label, html) => {
  expect(() => replaceNonce(html, "n", ENTRY)).toThrow(ChangedHtmlError);
});
