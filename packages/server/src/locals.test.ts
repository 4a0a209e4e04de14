// The fields of `res.locals`: each has one writer, and its comment names the writer and the readers.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SRC = import.meta.dirname;
const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !/\.(d|test)\.tsx?$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(SRC, name), "utf8") }));

const WRITES = [/\blocals\.(\w+) (?:\?\?|\|\|)?= /g, /Object\.assign\([^;]*\blocals\b[^;]*\{([^{}]*)\}\)/g];
const READS = [
  /\blocals\??\.(?!ts\b)(\w+)\b(?! (?:\?\?|\|\|)?= )/g,
  /\{([^{}]*)\} = (?:res\.)?locals;/g,
  /\{([^{}]*)\}: (?:Express\.Locals|Response\["locals"\])/g,
];

/** The fields that a file writes or reads, each once. `{ a, b: c = 1 }` has the fields a and b. */
function findFields(text: string, patterns: RegExp[]) {
  const lists = patterns.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, list = ""]) => list));
  const names = lists.flatMap((list) => list.split(",")).map((item) => /\w+/.exec(item)?.[0] ?? "");
  return [...new Set(names)].filter(Boolean);
}

/** A part's folder, or another room of rooms.test.ts. */
const roomOf = (file: string) => file.replace(/^parts\/(?=.*\/)/, "").split("/")[0] ?? "";

function findFiles(field: string, patterns: RegExp[]) {
  return FILES.filter(({ text }) => findFields(text, patterns).includes(field)).map(({ name }) => name);
}

const [declared = ""] = /interface Locals \{.*?\n {4}\}/s.exec(readFileSync(join(SRC, "locals.ts"), "utf8")) ?? [];
const FIELDS = Array.from(
  declared.matchAll(/\/\*\*((?:(?!\*\/).)*)\*\/\s+(\w+)\??: /gs),
  ([, doc = "", field = ""]) => ({
    field,
    doc: doc.replaceAll(/\s*\n\s*\*\s*/g, " "),
  }),
);

test("every field that the engine writes or reads is declared", () => {
  const used = FILES.flatMap(({ text }) => findFields(text, [...WRITES, ...READS]));
  expect([...new Set(used)].sort()).toEqual(FIELDS.map(({ field }) => field).sort());
});

test.each(FIELDS)(
  "res.locals.$field has one writer, and its comment names the writer and the readers",
  ({ field, doc }) => {
    const writers = findFiles(field, WRITES);
    expect(writers).toHaveLength(1);
    expect(doc).toContain(`Written by ${writers[0]}`);
    const readers = /Read by ([^.]*)/.exec(doc)?.[1]?.split(/, | and /) ?? [];
    expect(readers.sort()).toEqual([...new Set(findFiles(field, READS).map(roomOf))].sort());
  },
);
