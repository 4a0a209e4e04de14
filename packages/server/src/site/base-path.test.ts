import { expect, test } from "vitest";
import { parseBase, policyOfAssets, toSitePath, toUrlPath } from "./base-path.ts";

test.each([
  [undefined, undefined, { path: "/", assetsOrigin: undefined }],
  ["/", "/", { path: "/", assetsOrigin: undefined }],
  ["/app/", "/app/", { path: "/app/", assetsOrigin: undefined }],
  ["/a/b-1/", "/a/b-1/", { path: "/a/b-1/", assetsOrigin: undefined }],
  ["/", "https://cdn.example/v1/", { path: "/", assetsOrigin: "https://cdn.example" }],
  ["/app/", "http://127.0.0.1:80/app/", { path: "/app/", assetsOrigin: "http://127.0.0.1" }],
])("with basename %j and base %j, the site is at %j", (basename, base, expected) => {
  expect(parseBase(basename, base)).toEqual(expected);
});

test.each([
  ["/app", "/app", 'basename "/app"'],
  ["app/", "app/", 'basename "app/"'],
  ["/a b/", "/a b/", 'basename "/a b/"'],
  ["/../", "/../", 'basename "/../"'],
  ["//app/", "//app/", 'basename "//app/"'],
  ["/app/", "/", 'base "/"'],
  ["/", "/app/", 'base "/app/"'],
  ["/", "./", 'base "./"'],
  ["/", "", 'base ""'],
  ["/", "https://cdn.example", 'base "https://cdn.example"'],
  ["/", "//cdn.example/", 'base "//cdn.example/"'],
  ["/", "https://a b/", 'base "https://a b/"'],
])("basename %j and base %j are rejected, in one sentence", (basename, base, message) => {
  expect(() => parseBase(basename, base)).toThrow(message);
});

test.each([
  ["/app/", "/app/about", "/about"],
  ["/app/", "/app/", "/"],
  ["/app/", "/app", "/"],
  ["/app/", "/APP/About", "/About"],
  ["/app/", "/app//a", "//a"],
  ["/app/", "/app/app/", "/app/"],
  ["/app/", "/application", undefined],
  ["/app/", "/%61pp/", undefined], // As React Router.
  ["/app/", "/", undefined],
  ["/app/", "//app/", undefined],
  ["/", "/", "/"],
  ["/", "//a", "//a"],
])("below %s, the URL path %s is the site's path %s", (path, urlPath, sitePath) => {
  expect(toSitePath({ path }, urlPath)).toBe(sitePath);
  if (sitePath !== undefined && urlPath.startsWith(path)) expect(toUrlPath({ path }, sitePath)).toBe(urlPath);
});

test("pages may load from their assets' origin what a bundle has, and nothing else", () => {
  expect(policyOfAssets({ path: "/" })).toBe("");
  const directives = policyOfAssets({ path: "/", assetsOrigin: "https://cdn.example" }).split("; ");
  expect(directives.map((directive) => directive.split(" "))).toEqual(
    ["script", "style", "connect", "font", "img", "media"].map((name) => [`${name}-src`, "https://cdn.example"]),
  );
});
