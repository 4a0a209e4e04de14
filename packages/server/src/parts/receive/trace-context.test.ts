import { expect, test } from "vitest";
import { parseTraceId } from "./trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

test.each([
  ["the flag sampled", `00-${TRACE}-${PARENT}-01`, TRACE],
  ["no flag sampled", `00-${TRACE}-${PARENT}-00`, TRACE],
  ["flags unknown today", `00-${TRACE}-${PARENT}-ff`, TRACE],
  ["a trace id of zeros but one digit", `00-${"1".padStart(32, "0")}-${PARENT}-01`, "1".padStart(32, "0")],
  ["a later version", `01-${TRACE}-${PARENT}-01`, TRACE],
  ["a later version with more fields", `cc-${TRACE}-${PARENT}-01-what-the-future-holds`, TRACE],
  ["a later version with longer flags", `cc-${TRACE}-${PARENT}-01.what-the-future-holds`, undefined],
  ["version ff", `ff-${TRACE}-${PARENT}-01`, undefined],
  ["more fields than version 00", `00-${TRACE}-${PARENT}-01-more`, undefined],
  ["a dash at the end", `00-${TRACE}-${PARENT}-01-`, undefined],
  ["two values", `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`, undefined],
  ["no flags", `00-${TRACE}-${PARENT}`, undefined],
  ["short flags", `00-${TRACE}-${PARENT}-1`, undefined],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${PARENT}-01`, undefined],
  ["a parent id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`, undefined],
  ["upper case", `00-${TRACE.toUpperCase()}-${PARENT}-01`, undefined],
  ["an upper-case version", `0A-${TRACE}-${PARENT}-01`, undefined],
  ["a short trace id", `00-${TRACE.slice(1)}-${PARENT}-01`, undefined],
  ["a long trace id", `00-${TRACE}0-${PARENT}-01`, undefined],
  ["a digit that isn't hexadecimal", `00-${TRACE.replace("4", "g")}-${PARENT}-01`, undefined],
  ["underscores", `00_${TRACE}_${PARENT}_01`, undefined],
  ["a space before", ` 00-${TRACE}-${PARENT}-01`, undefined],
  ["a line break after", `00-${TRACE}-${PARENT}-01\n`, undefined],
  ["nothing", "", undefined],
])("traceparent with %s: %j has the trace id %s", (_what, traceparent, traceId) => {
  expect(parseTraceId(traceparent)).toBe(traceId);
});
