// The rooms of the engine: what each is for, and that imports run down this list only.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "vite";
import { expect, test } from "vitest";

const SRC = import.meta.dirname;

/** A file or folder of `src/`, from the top: each imports only from those below it. */
const ROOMS = {
  vite: "builds a site, and serves it in development",
  testing: "loads or starts a site's build in tests",
  process: "starts and stops the process: ports, signals, the operators' port, the state of services",
  index: "is what server.ts and entry.server.tsx import",
  "create-server": "is the only place where the parts meet: production, development and tests call it",
  "define-server": "has the types of what server.ts defines",
  parts: "has a folder for each part that createApp gets, with its middleware, metrics, log messages and tests",
  overload: "limits connections, bodies, slots and time",
  site: "reads a build: routes, cache rules, the policy and security headers of a page",
  telemetry: "writes the log, and has helpers for metrics and traces",
  settings: "reads and checks environment variables",
  locals: "has the fields of `res.locals`, each with its writer and its readers",
  express: "creates Express applications at Node's speed",
  pages: "is what the modules of pages import, in the browser and on the server",
  http: "has the rules of RFCs as functions, and stored responses",
  "node-internals": "has what the engine uses of Node beyond its documentation",
};

const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
  (name) => /\.[jt]sx?$/.test(name) && !/\.(d|test)\.tsx?$/.test(name),
);

/** The modules that a file names in its imports, types included. */
function readImports(file: string) {
  const source = readFileSync(join(SRC, file), "utf8");
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  const importers = [...staticImports, ...staticExports.flatMap(({ entries }) => entries), ...dynamicImports];
  return importers.flatMap(({ moduleRequest: it }) => (it ? source.slice(it.start + 1, it.end - 1) : []));
}

/** The relative imports of a file, as paths from `src/`. */
function listImports(file: string) {
  const names = readImports(file).filter((name) => name.startsWith("."));
  return names.map((name) => relative(SRC, join(SRC, dirname(file), name)));
}

const roomOf = (file: string) => file.split("/")[0]?.replace(/\.\w+$/, "") ?? "";
const partOf = (file: string) => /^parts\/(.*?)\//.exec(file)?.[1];
const IMPORTS = FILES.flatMap((from) => listImports(from).map((to) => ({ from, to })));

test("the list names every room", () => {
  expect([...new Set(FILES.map(roomOf))].sort()).toEqual(Object.keys(ROOMS).sort());
});

test("the engine imports nothing of a site", () => {
  expect(IMPORTS.filter(({ to }) => to.startsWith(".."))).toEqual([]);
});

test("the engine doesn't import itself by its package's name, which would hide the room", () => {
  const imports = FILES.flatMap((file) => readImports(file).map((name) => `${file} imports ${name}`));
  expect(imports.filter((it) => it.includes("react-router-express-server"))).toEqual([]);
});

test("imports between rooms run down", () => {
  const rooms = Object.keys(ROOMS);
  const isUpward = ({ from, to }: (typeof IMPORTS)[0]) => rooms.indexOf(roomOf(from)) > rooms.indexOf(roomOf(to));
  expect(IMPORTS.filter(isUpward)).toEqual([]);
});

test("parts don't import each other: what two of them need lies below, or create-server.ts passes it", () => {
  // check-order.ts looks for React Router's handler in the list.
  const isAcross = ({ from, to }: (typeof IMPORTS)[0]) =>
    from.startsWith("parts/") &&
    from !== "parts/check-order.ts" &&
    partOf(to) !== undefined &&
    partOf(to) !== partOf(from);
  expect(IMPORTS.filter(isAcross)).toEqual([]);
});

test.each([
  ["import.meta.env", ["pages/environment.ts", "vite/basename.ts"]],
  ["NODE_ENV", ["process/start.ts", "vite/configure.ts"]],
])("%s is in %j alone: create-server.ts gets the environment as a value", (name, files) => {
  expect(FILES.filter((file) => readFileSync(join(SRC, file), "utf8").includes(name)).sort()).toEqual(files);
});

test("one module puts the parts together", () => {
  const creators = ["createCache", "createPages", "createContextFactory", "protectFromOverload"];
  const callers = FILES.filter((file) => {
    const text = readFileSync(join(SRC, file), "utf8");
    return creators.some((name) => new RegExp(`(?<!function )\\b${name}\\(`).test(text));
  });
  expect(callers).toEqual(["create-server.ts"]);
});
