import type { Request } from "express";
import { expect, test } from "vitest";
import { findRange } from "./byte-range.ts";

const SIZE = 10;
const UNSATISFIABLE = expect.objectContaining({ start: SIZE });

test.each([
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=2-5", { start: 2, end: 5 }],
  ["Bytes=2-5", { start: 2, end: 5 }],
  ["bytes=7-", { start: 7, end: 9 }],
  ["bytes=9-99999999999999999999999", { start: 9, end: 9 }],
  ["bytes=-3", { start: 7, end: 9 }],
  ["bytes=-10", { start: 0, end: 9 }],
  ["bytes=-999999", { start: 0, end: 9 }],
  ["bytes=-0", UNSATISFIABLE],
  ["bytes=10-", UNSATISFIABLE],
  ["bytes=99999999999999999999999-", UNSATISFIABLE],
  ["bytes=5-2", undefined],
  ["bytes=-", undefined],
  ["bytes=", undefined],
  ["bytes", undefined],
  ["bytes=a-b", undefined],
  ["bytes=--1", undefined],
  ["bytes=0-1,4-5", undefined],
  ["lines=0-1", undefined],
])("of a file of 10 bytes, %s is %j", (range, expected) => {
  expect(findRange({ method: "GET", headers: { range } } as Request, SIZE, '"a"')).toEqual(expected);
});

test.each(["bytes=0-", "bytes=-1", "bytes=5-9"])("an empty file is sent whole for %s", (range) => {
  expect(findRange({ method: "GET", headers: { range } } as Request, 0, '"a"')).toBeUndefined();
});
