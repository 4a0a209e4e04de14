// The headers that the cache follows: Cache-Control (RFC 9111, RFC 5861), No-Vary-Search and Cache-Groups (RFC 9875).
import { expect, test } from "vitest";
import { createDataFilter } from "../site/cache-rule.ts";
import { isForSharedCaches, parseGroups, parseSharedLifetime } from "./cache-control.ts";
import { createQueryFilter } from "./no-vary-search.ts";

test.each([
  ["public, max-age=0, s-maxage=60", { fresh: 60, staleWhileRevalidate: 0, staleIfError: 0 }],
  ["s-maxage=1,stale-while-revalidate=2,stale-if-error=3", { fresh: 1, staleWhileRevalidate: 2, staleIfError: 3 }],
  ['S-MaxAge="60"', { fresh: 60, staleWhileRevalidate: 0, staleIfError: 0 }],
  ["s-maxage=60, stale-while-revalidate", { fresh: 60, staleWhileRevalidate: 0, staleIfError: 0 }],
  ["s-maxage=60, must-revalidate, stale-if-error=9", { fresh: 60, staleWhileRevalidate: 0, staleIfError: 0 }],
  ["s-maxage=60, proxy-revalidate", { fresh: 60, staleWhileRevalidate: 0, staleIfError: 0 }],
  ["max-age=60", undefined],
  ["s-maxage=0", undefined],
  ["s-maxage=-1", undefined],
  ["s-maxage=soon", undefined],
  ["s-maxage", undefined],
  ["s-maxage=60, private", undefined],
  ["s-maxage=60, no-store", undefined],
  ["s-maxage=60, No-Cache", undefined],
  ["", undefined],
])("Cache-Control: %s has the shared lifetime %j", (cacheControl, lifetime) => {
  expect(parseSharedLifetime(cacheControl)).toEqual(lifetime);
});

test.each([
  ["public, max-age=0, s-maxage=60", true],
  ["max-age=60", true],
  ["no-cache", true],
  ["", true],
  ['private="set-cookie", max-age=60', true],
  ["private, no-cache", false],
  ["max-age=60,Private", false],
  ["no-store", false],
  ["public, No-Store", false],
])("Cache-Control: %s lets a shared cache store a response: %s", (cacheControl, isAllowed) => {
  expect(isForSharedCaches(cacheControl)).toBe(isAllowed);
});

test.each([
  [null, "?b=1&a=2", "?b=1&a=2"],
  ["params", "?b=1&a=2", ""],
  ["params=?1", "?b=1&a=2", ""],
  ["params=?0", "?b=1&a=2", "?b=1&a=2"],
  ['params=("a")', "?b=1&a=2", "?b=1"],
  ['params=("a" "b")', "?b=1&a=2", ""],
  ['params, except=("a")', "?b=1&a=2&a=3", "?a=2&a=3"],
  ["key-order", "?b=1&a=2", "?a=2&b=1"],
  ['key-order, params=("c")', "?b=1&c=3&a=2", "?a=2&b=1"],
  ['params, except=("a b")', "?a+b=1&a=2", "?a+b=1"],
  ["params", "", ""],
  ['except=("a")', "?b=1&a=2", "?a=2"],
  ["except=()", "?b=1", ""],
  ['key-order, except=("b" "a")', "?b=1&c=3&a=2", "?a=2&b=1"],
  ['params=("a"), except=("b")', "?b=1&a=2", "?b=1&a=2"],
  ['except="a"', "?b=1", "?b=1"],
  ["params=(a)", "?b=1", "?b=1"],
  ["params=a", "?b=1", "?b=1"],
  ["params, other", "?b=1", ""],
  ["params, Other", "?b=1", "?b=1"],
])("No-Vary-Search %j reduces the query %j to %j", (noVarySearch, query, counting) => {
  expect(createQueryFilter(noVarySearch)(query)).toBe(counting);
});

test.each([
  ["params", "?_routes=root&a=1", "?_routes=root"],
  ["params", "?a=1", ""],
  ["params", "?_routes=", "?_routes="],
  ["params", "?_routes=nowhere", "?_routes="],
  ["params", "?_routes=post%2Croot,root,nowhere", "?_routes=root%2Cpost"],
  ["params", "?%5Froutes=root&_routes=post", "?_routes=root"],
  [null, "?a=1&_routes=root&b=2", "?a=1&b=2&_routes=root"],
  [null, "?_routes=root", "?_routes=root"],
])("No-Vary-Search %j reduces the query %j of a data request to %j", (noVarySearch, query, counting) => {
  expect(createDataFilter(createQueryFilter(noVarySearch), ["root", "post"])(query)).toBe(counting);
});

test.each([
  [null, []],
  ['"events"', ["events"]],
  ['"events", "event-17"', ["events", "event-17"]],
  ['"a \\"b\\"";x=1', ['a "b"']],
  ["events", undefined],
  ['"events', undefined],
  ["1", undefined],
])("Cache-Groups: %s has the groups %j", (value, groups) => {
  expect(parseGroups(value)).toEqual(groups);
});
