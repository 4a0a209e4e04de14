import { expect, test } from "vitest";
import { createFindSpelling } from "./find-spelling.ts";

const findSpelling = createFindSpelling({ has: () => true }, () => undefined);
const find = (path: string) => findSpelling({ path, decodedPath: path, query: "", isRespelled: false }, undefined);

test("letters with combining marks are composed, up to 30 marks", () => {
  expect(find("/zoe%CC%88")).toBe("/zo%C3%AB");
  expect(find(`/e${"%CC%88".repeat(30)}`)).toBe(`/%C3%AB${"%CC%88".repeat(29)}`);
  expect(find(`/e${"%CC%88".repeat(31)}`)).toBeUndefined();
});

// Unicode sorts marks, which takes time in proportion to the square of their number.
test("a path of marks takes time in proportion to its length", () => {
  const measure = (pairs: number) => {
    const path = `/a${"%CC%80%CC%96".repeat(pairs)}`;
    const startedAt = performance.now();
    find(path);
    return performance.now() - startedAt;
  };
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < 50; run++) {
    short = Math.min(short, measure(125));
    long = Math.min(long, measure(1000));
  }
  // 8, and 64 if the time were quadratic.
  expect(long / short).toBeLessThan(20);
});
