import { expect, test } from "vitest";
import { hasAmbiguousFraming, isHost, keepsSegments, parseRequestTarget } from "./request-target.ts";

test.each([
  "",
  "localhost",
  "LOCALHOST:3000",
  "example.com:",
  "example.com:0",
  "example.com:65535",
  "example.com:00080",
  ":80",
  "127.0.0.1:80",
  "a_b",
  "a..b",
  "a,b",
  "!$&'()*+;=~-._",
  "%41%c3%a9",
  "xn--fiqs8s",
  "[::1]",
  "[::1]:80",
  "[::ffff:127.0.0.1]",
  "[2001:DB8::1]:",
])("isHost(%j) is true", (value) => {
  expect(isHost(value)).toBe(true);
});

test.each([
  " ",
  "a b",
  " a",
  "a ",
  "a, b",
  "a/b",
  "a?b",
  "a#b",
  "a\\b",
  "a@b",
  "a:b",
  "a:80:80",
  "a:-1",
  "a:65536",
  "a:99999999999999999999",
  "a\n",
  "\n",
  "é",
  "%",
  "%4",
  "%zz",
  "::1",
  "[",
  "[]",
  "[::1",
  "::1]",
  "[::1]a",
  "[:::1]",
  "[1.2.3.4]",
  "[::1%25eth0]",
  "[v1.a]",
  "[localhost]",
  "<a>",
  '"a"',
])("isHost(%j) is false", (value) => {
  expect(isHost(value)).toBe(false);
});

test.each([
  ["/", true],
  ["//", true],
  ["/a/b.data", true],
  ["/.env", true],
  ["/...", true],
  ["/a../.b", true],
  ["/..%2f..", true],
  ["/.", false],
  ["/a/../b", false],
  ["/a/%2e%2E/b", false],
  ["/a/.%2e", false],
  ["/a\\b", false],
])("keepsSegments(%j) is %j, as with new URL()", (path, expected) => {
  expect(keepsSegments(path)).toBe(expected);
  expect(new URL(`http://localhost${path}`).pathname === path).toBe(expected);
});

test.each(["/..data", "/...data", "/a/%2e.data"])("%j without .data would be changed by the URL parser", (path) => {
  expect(keepsSegments(path)).toBe(false);
});

test.each([
  ["/", "/", "/", ""],
  ["/a/b", "/a/b", "/a/b", ""],
  ["/?", "/", "/", ""],
  ["/a?b=/c?d", "/a", "/a", "?b=/c?d"],
  ["/a?%", "/a", "/a", "?%"],
  ["//a/b", "//a/b", "//a/b", ""],
  ["/..%2f..", "/..%2f..", "/..%2F..", ""],
  ["/%41", "/A", "/A", ""],
  ["/%E4%BD%A0", "/%E4%BD%A0", "/你", ""],
  ["/%00", "/%00", "/\0", ""],
  ["/%", "/%25", "/%", ""],
  ["/%41%", "/%2541%25", "/%41%", ""],
  ["/%E0%A4%A", "/%25E0%25A4%25A", "/%E0%A4%A", ""],
  ["/%?%", "/%25", "/%", "?%"],
  ["http://a", "/", "/", ""],
  ["http://a?b", "/", "/", "?b"],
  ["http://a/b?c", "/b", "/b", "?c"],
  ["HTTPS://user@a:80/b", "/b", "/b", ""],
  ["http://a//b", "//b", "//b", ""],
])("parseRequestTarget(%j) is path %j, decoded %j, query %j", (target, path, decoded, query) => {
  expect(parseRequestTarget(target)).toMatchObject({ path, decodedPath: decoded, query });
});

test.each([
  ["/%E4%BD%A0", false],
  ["/%41", true],
  ["/%", true],
  ["/%41%", true],
  ["/?%", false],
  ["http://a/%", true],
])("parseRequestTarget(%j) has another spelling: %j", (target, isRespelled) => {
  expect(parseRequestTarget(target)?.isRespelled).toBe(isRespelled);
});

test.each([
  "",
  "*",
  "/a#b",
  "http://a/#b",
  "a",
  "a:80",
  "?",
  "http:",
  "http:/a",
  "http://",
  "http:///a",
  "ftp://a/",
  "javascript:1",
  "\\a",
])("parseRequestTarget(%j) is undefined", (target) => {
  expect(parseRequestTarget(target)).toBeUndefined();
});

test.each([
  ["1.1", undefined, false],
  ["1.1", "chunked", false],
  ["1.1", "Chunked", false],
  ["1.1", "", true],
  ["1.1", "gzip", true],
  ["1.1", "gzip, chunked", true],
  ["1.1", "chunked, chunked", true],
  ["1.0", undefined, false],
  ["1.0", "chunked", true],
])("hasAmbiguousFraming of HTTP/%s with Transfer-Encoding %j is %j", (httpVersion, coding, expected) => {
  expect(hasAmbiguousFraming({ httpVersion, headers: { "transfer-encoding": coding } })).toBe(expected);
});

test.each([
  ["/%70rivate/%41%7e%2D%5f%39", "/private/A~-_9", "/private/A~-_9"],
  ["/%2e%2E/a", "/../a", "/../a"],
  ["/private%2Fa", "/private%2Fa", "/private%2Fa"],
  ["/private%2fa%20b", "/private%2fa%20b", "/private%2Fa b"],
  ["/zo%C3%AB%3f", "/zo%C3%AB%3f", "/zoë?"],
])("%s is the path %s, decoded %s", (target, path, decodedPath) => {
  expect(parseRequestTarget(target)).toMatchObject({ path, decodedPath });
});
