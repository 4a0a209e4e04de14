import { expect, test } from "vitest";
import { toText } from "./terminal.ts";

const TIME = "2026-01-02T03:04:05.678Z";
const CLOCK = new Date(TIME).toTimeString().slice(0, 8);
const format = (fields: object) => toText(JSON.stringify({ time: TIME, level: "info", ...fields }));

test.each([
  { what: "a message alone", fields: { msg: "stopped" }, text: "info  stopped" },
  {
    what: "fields by the last part of their names",
    fields: { msg: "request", "url.path": "/a" },
    text: "info  request path=/a",
  },
  { what: "a text with a space in quotes", fields: { msg: "m", reason: "a b" }, text: "info  m reason='a b'" },
  {
    what: "lists and objects in one line",
    fields: { msg: "m", ids: [1, 2], a: { b: "c" } },
    text: "info  m ids=[ 1, 2 ] a={ b: 'c' }",
  },
  {
    what: "no ids and no table of settings",
    fields: { msg: "m", "http.request.id": "1", trace_id: "2", settings: { PORT: 1 }, limits: {} },
    text: "info  m",
  },
  {
    what: "nothing that is the same in each line",
    fields: { "service.version": "1", "vcs.ref.head.revision": "a", "host.name": "b", "process.pid": 1, msg: "m" },
    text: "info  m",
  },
  { what: "a warning", fields: { level: "warn", msg: "m" }, text: "warn  m" },
  {
    what: "an error's stack below, without its type and message",
    fields: {
      level: "error",
      msg: "m",
      "exception.type": "E",
      "exception.message": "x",
      "exception.stacktrace": "E: x\n    at f",
    },
    text: "error m\nE: x\n    at f",
  },
  // Clients send paths and user agents: a terminal would follow escape sequences.
  {
    what: "escape sequences as text",
    fields: { msg: "m", path: "\x1b[2J", other: "\x9b2J" },
    text: "info  m path='\\x1B[2J' other='\\x9B2J'",
  },
  {
    what: "no escape sequences of a stack",
    fields: { msg: "\x1bm", "exception.stacktrace": "E\x1b[2J\n\tat\x9b" },
    text: "info  m\nE[2J\n\tat",
  },
])("in a terminal, a log line has $what", ({ fields, text }) => {
  expect(format(fields)).toBe(`${CLOCK} ${text}\n`);
});
