import { expect, test } from "vitest";
import { ChangedHtmlError } from "../../site/changed-html-error.ts";
import { prioritizeContent } from "./prioritize-content.ts";

const ENTRY = "/assets/entry.client-1.js";
const MANIFEST = "/assets/manifest.js";
const SCRIPT = `<script type="module">import("${ENTRY}");</script>`;
const preload = (name: string) => `<link rel="modulepreload" href="/assets/${name}.js"/>`;
const low = (name: string) => `<link fetchpriority="low" rel="modulepreload" href="/assets/${name}.js"/>`;

test("scripts have a low priority, the manifest comes last, and no module is there twice", () => {
  const html = `<head>${preload("manifest")}${preload("entry")}${preload("root")}${preload("entry")}</head>${SCRIPT}`;
  expect(prioritizeContent(html, ENTRY, MANIFEST)).toBe(
    `<head>${low("entry")}${low("root")}${low("manifest")}</head>${SCRIPT}`,
  );
});

test("a page may preload modules of its own in front", () => {
  const html = `<head>${preload("own")}${preload("manifest")}${preload("entry")}</head>${SCRIPT}`;
  expect(prioritizeContent(html, ENTRY, MANIFEST)).toBe(
    `<head>${low("own")}${low("entry")}${low("manifest")}</head>${SCRIPT}`,
  );
});

test("a page without scripts stays as it is", () => {
  expect(prioritizeContent("<p>a</p>", ENTRY, MANIFEST)).toBe("<p>a</p>");
});

test.each([
  ["no preloads", ""],
  ["no preload of the manifest", preload("entry")],
  ["another order of attributes", '<link href="/assets/entry.js" rel="modulepreload"/>'],
  ["another kind of preload", '<link rel="preload" as="script" href="/assets/entry.js"/>'],
])("if <Scripts> renders %s, the page fails", (_label, links) => {
  expect(() => prioritizeContent(`<head>${links}</head>${SCRIPT}`, ENTRY, MANIFEST)).toThrow(ChangedHtmlError);
});
