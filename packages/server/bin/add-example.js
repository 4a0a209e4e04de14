// Copies an example to the site in the current folder. All that could be in the way is checked before the first change.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import leven from "leven";
import { addRoutes } from "./edit-routes.js";

const EXAMPLES = fileURLToPath(new URL("../examples", import.meta.url));
/** These describe an example, and stay with it. */
const OWN_FILES = ["README.md", "package.json"];
const ROUTES = "app/routes.ts";
const LAYOUT = "layout/layout.tsx";

/**
 * An example's package.json.
 * @typedef {object} Example
 * @property {string} description
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {string[]} [routes] entries for `app/routes.ts`
 * @property {boolean} [isInLayout] whether the layout is around its pages, if the site has the layout
 * @property {Record<string, Record<string, string[]>>} [lines] what the team adds: the lines, by place, by file
 */

/** @param {string} path */
const readText = (path) => readFileSync(path, "utf8");

/** @param {string} name @returns {Example} */
const readExample = (name) => JSON.parse(readText(join(EXAMPLES, name, "package.json")));

/** The names and descriptions of the examples. */
export const listExamples = () =>
  readdirSync(EXAMPLES).map((name) => ({ name, description: readExample(name).description }));

/** The paths of an example's files, in the example and in the site. @param {string} name */
function listFiles(name) {
  const folder = join(EXAMPLES, name);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
  return paths.filter((path) => !OWN_FILES.includes(path)).sort();
}

/** Adds an example to the site. Returns what the command prints, or throws an error and changes nothing. @param {string} name */
export function addExample(name) {
  const names = listExamples().map((example) => example.name);
  if (!names.includes(name)) {
    const [nearest] = names.sort((one, other) => leven(one, name) - leven(other, name));
    throw new Error(`There is no example "${name}". Do you mean "${nearest}"?`);
  }
  if (!existsSync(ROUTES) || !existsSync("package.json")) {
    throw new Error(`Run this in the folder of your site: this folder has no ${ROUTES} or no package.json.`);
  }
  const files = listFiles(name);
  const existing = files.filter((file) => existsSync(file));
  if (existing.length > 0) throw new Error(`Nothing was added, because this exists already: ${existing.join(", ")}`);
  const example = readExample(name);
  const routes = planRoutes(readText(ROUTES), example);
  const packages = planPackages(readText("package.json"), example);
  const lines = Object.entries(example.lines ?? {}).filter(([file]) => file !== `app/${LAYOUT}` || existsSync(file));

  for (const file of files) cpSync(join(EXAMPLES, name, file), file);
  if (routes !== undefined) writeFileSync(ROUTES, routes);
  if (packages.manifest !== undefined) writeFileSync("package.json", packages.manifest);
  return [
    ...files.map((file) => `added   ${file}`),
    ...(routes === undefined ? [] : [`changed ${ROUTES}`]),
    ...(packages.manifest === undefined ? [] : ["changed package.json: run npm install"]),
    ...packages.notes,
    ...lines.flatMap(([file, places]) => ["", ...describeLines(file, places)]),
    "",
    `Read ${relative(".", join(EXAMPLES, name, "README.md"))}`,
  ].join("\n");
}

/** The new text of the list of routes, or undefined if the example has no route. @param {string} text @param {Example} example */
function planRoutes(text, { routes = [], isInLayout = false }) {
  if (routes.length === 0) return undefined;
  const paths = routes.flatMap((entry) => [...entry.matchAll(/route\("([^"]+)"/g)].map(([, path = ""]) => path));
  const taken = paths.find((path) => text.includes(`route("${path}"`) || text.includes(`route("/${path}"`));
  if (taken !== undefined) throw new Error(`Nothing was added, because ${ROUTES} has a route "${taken}" already.`);
  const changed = addRoutes(text, routes, isInLayout && existsSync(`app/${LAYOUT}`) ? LAYOUT : undefined);
  if (changed !== undefined) return changed;
  throw new Error(
    `Nothing was added, because ${ROUTES} isn't written as in the template. The example needs: ${routes.join(", ")}`,
  );
}

/** @param {string} text @param {Example} needed */
function planPackages(text, needed) {
  const manifest = JSON.parse(text);
  const { dependencies = {}, devDependencies = {} } = manifest;
  const notes = [];
  let isChanged = false;
  for (const list of /** @type {const} */ (["dependencies", "devDependencies"])) {
    for (const [name, version] of Object.entries(needed[list] ?? {})) {
      const present = dependencies[name] ?? devDependencies[name];
      if (present !== undefined && present !== version) {
        notes.push(`kept    ${name} ${present}: the example is tested with ${version}`);
      }
      if (name in dependencies || (name in devDependencies && list === "devDependencies")) continue;
      // The server imports what is in `dependencies`, so the image needs it.
      delete devDependencies[name];
      (list === "dependencies" ? dependencies : devDependencies)[name] = present ?? version;
      isChanged = true;
    }
  }
  if (!isChanged) return { notes };
  for (const [list, packages] of Object.entries({ dependencies, devDependencies })) {
    const sorted = Object.entries(packages).sort(([one], [other]) => (one < other ? -1 : 1));
    if (list in manifest || sorted.length > 0) manifest[list] = Object.fromEntries(sorted);
  }
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? "  ";
  return { notes, manifest: `${JSON.stringify(manifest, null, indent)}\n` };
}

/** @param {string} file @param {Record<string, string[]>} places */
const describeLines = (file, places) =>
  Object.entries(places).flatMap(([place, lines]) => [
    `${file}, ${place}${lines.length > 0 ? ":" : ""}`,
    ...lines.map((line) => `  ${line}`),
  ]);
