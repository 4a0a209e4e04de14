import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { startServer } from "react-router-express-server/testing";
import { expect } from "vitest";
import { installPackages } from "./install-packages.ts";
import { run } from "./packed-engine.ts";

/** The level in the log. */
const INFO = 30;

const EXAMPLES = "packages/server/examples";

/** By file, and by place in it. */
type Lines = Record<string, Record<string, string[]>>;

export const EXAMPLE_NAMES = readdirSync(EXAMPLES);

/** Two examples replace this text, and the README of one has the line for both. */
const TOGETHER: Record<string, string> = {
  '<html lang="en">': "<html lang={toDocumentLanguage(useLocation().pathname, useLanguage())}>",
};

type Packages = Record<string, string>;

type Example = { dependencies?: Packages; devDependencies?: Packages; routes?: string[]; lines?: Lines };

const readExample = (name: string): Example => JSON.parse(readFileSync(`${EXAMPLES}/${name}/package.json`, "utf8"));

/** The tests that an example brings. */
const listTests = (name: string) => readdirSync(`${EXAMPLES}/${name}/test`).map((file) => `test/${file}`);

/** The paths of its pages, without not-found pages. */
const listPaths = (name: string) =>
  (readExample(name).routes ?? []).flatMap((entry) => /^route\("([^"*]+)", "[^"]+\.tsx"/.exec(entry)?.[1] ?? []);

/** Types, the build, the tests of the examples, and the log and the pages of the production server. */
export async function checkExamples(folder: string, names: string[]) {
  run(folder, "npm run typecheck");
  testExamples(folder, names);
  const server = await startServer({}, folder);
  try {
    for (const path of names.flatMap(listPaths)) expect((await fetch(`${server.url}/${path}`)).status, path).toBe(200);
  } finally {
    await server.stop();
  }
  // Such as a handler without `admit`.
  expect(server.lines.filter(({ level }) => Number(level) > INFO)).toEqual([]);
}

/** The project `fast` builds the site first. */
export const testExamples = (folder: string, names: string[]) =>
  run(folder, `npx vitest run --project fast ${names.flatMap(listTests).join(" ")}`);

/** Adds examples to a copy of the project, as a user does: by the command, and by hand for the lines that it prints. */
export function addExamples(folder: string, names: string[]) {
  for (const name of names) run(folder, `npm run --silent add -- ${name}`);
  const packages = names
    .map(readExample)
    .map(({ dependencies, devDependencies }) => ({ ...dependencies, ...devDependencies }));
  installPackages(folder, Object.assign({}, ...packages));
  const all: Lines = {};
  for (const lines of names.map((name) => readExample(name).lines ?? {})) {
    for (const [file, places] of Object.entries(lines)) {
      for (const [place, added] of Object.entries(places)) {
        all[file] ??= {};
        all[file][place] = [...new Set([...(all[file][place] ?? []), ...added])];
      }
    }
  }
  for (const [file, places] of Object.entries(all)) {
    for (const path of file.split(" and ")) if (existsSync(`${folder}/${path}`)) edit(`${folder}/${path}`, places);
  }
  // Also fails for what lint can't fix.
  run(folder, "npm run format");
}

function edit(path: string, places: Record<string, string[]>) {
  let text = readFileSync(path, "utf8");
  for (const [place, lines] of Object.entries(places)) {
    const [, side, anchor = ""] = /^(after|before|replace) (.*)$/.exec(place) ?? [];
    if (side) text = insertAt(text, anchor, side, lines);
    else if (place === "at the top") text = `${lines.join("\n")}\n${text}`;
    else if (place === "at the end") text += `\n${lines.join("\n")}\n`;
    else if (place === "in LINKS")
      text = text.replace(/(?<=const LINKS = .*)(?=\];)/, `, ${lines.join(" ").replace(/,$/, "")}`);
    else if (place === "in the parameters of createApp") text = text.replace("createApp({", `$& ${lines.join(" ")}`);
    else if (place === "delete the file") return rmSync(path);
  }
  writeFileSync(
    path,
    text.replace("defineServer({\n", (start) => start + createProperties(places)),
  );
}

function insertAt(text: string, anchor: string, side: string, lines: string[]) {
  const found = text.split("\n").filter((line) => line.includes(anchor));
  if (found.length !== 1) throw new Error(`${found.length} lines have ${anchor}`);
  const [line = ""] = found;
  const added = (side === "replace" && lines.length > 1 && TOGETHER[anchor]) || lines.join("\n");
  if (side === "replace") return text.replace(anchor, () => added);
  return text.replace(line, () => (side === "after" ? `${line}\n${added}` : `${added}\n${line}`));
}

/** The template's `defineServer` has neither settings nor services. */
function createProperties(places: Record<string, string[]>) {
  const [settings = [], opened = [], contexts = [], returned = []] = [
    "in settings",
    "in openServices",
    "in setContext, which openServices returns",
    "in what openServices returns",
  ].map((place) => places[place]);
  const used = [...opened, ...contexts, ...returned].join("\n");
  // Several examples share one property.
  const shared = ["checkReadiness", "close"].flatMap((name) => {
    const start = `${name}: () => `;
    const calls = returned.filter((line) => line.startsWith(start)).map((line) => line.slice(start.length, -1));
    if (calls.length < 2) return calls.map((call) => `${start}${call},`);
    return [`${start}Promise.all([${calls.join(", ")}]),`];
  });
  const others = returned.filter((line) => !/^(checkReadiness|close): /.test(line));
  const names = ["settings", "log", "shutdown", "cache"].filter((name) => new RegExp(`\\b${name}\\b`).test(used));
  const setContext = contexts.length > 0 ? `setContext(context) {\n${contexts.join("\n")}\n},` : "";
  return `${settings.length > 0 ? `settings: {\n${settings.join("\n")}\n},\n` : ""}${
    used &&
    `openServices({ ${names.join(", ")} }) {\n${opened.join("\n")}\nreturn {\n${setContext}\n${[...others, ...shared].join("\n")}\n};\n},\n`
  }`;
}
