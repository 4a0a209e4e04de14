import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { COMMAND } from "../test/support/command.ts";
import { listExamples } from "./add-example.js";
import { addRoutes } from "./edit-routes.js";

const ROUTES = `import { type RouteConfig, route } from "@react-router/dev/routes";

export default [
  route("/", "routes/home.tsx", { id: "home", index: true }),
  route("*", "routes/not-found.tsx", { id: "404" }),
] satisfies RouteConfig;
`;

/** A site with the template's list of routes, and other files. */
function createSite(files: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const all = { "app/routes.ts": ROUTES, "package.json": '{\n  "name": "site"\n}\n', ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function add(cwd: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { cwd, encoding: "utf8" });
  return { status, stdout, stderr };
}

/** The texts of all files, by path. */
function readSite(folder: string) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => [
      join(parentPath, name).slice(folder.length + 1),
      readFileSync(join(parentPath, name), "utf8"),
    ]),
  );
}

test("without a name, the examples are listed", () => {
  const { status, stdout } = add(createSite(), "add");
  expect(status).toBe(0);
  for (const { name, description } of listExamples())
    expect(stdout).toMatch(new RegExp(`^  ${name} +${description}$`, "m"));
});

test.each([[["remove"]], [[]], [["add", "page", "list"]]])("%j gets the usage", (args) => {
  expect(add(createSite(), ...args)).toMatchObject({
    status: 1,
    stdout: "",
    stderr: expect.stringContaining("Usage: npx"),
  });
});

test("an example's files, routes and packages are added, and its lines are printed", () => {
  const site = createSite({ "app/layout/layout.tsx": "" });
  const { status, stdout, stderr } = add(site, "add", "form");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const files = readSite(site);
  expect(Object.keys(files).sort()).toEqual([
    "app/layout/layout.tsx",
    "app/routes.ts",
    "app/routes/contact.tsx",
    "package.json",
    "test/contact.test.ts",
  ]);
  expect(files["app/routes.ts"]).toBe(
    ROUTES.replace("{ type", "{ layout, type").replace(
      "[\n",
      '[\n  layout("layout/layout.tsx", [route("contact", "routes/contact.tsx")]),\n',
    ),
  );
  expect(JSON.parse(files["package.json"] ?? "")).toEqual({
    name: "site",
    dependencies: { valibot: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
  });
  expect(stdout).toContain("added   app/routes/contact.tsx\n");
  expect(stdout).toContain("changed package.json: run npm install\n");
  expect(stdout).toMatch(/^app\/layout\/layout\.tsx, .*:\n {2}\{ to: "\/contact"/m);
  expect(stdout).toMatch(/examples\/form\/README\.md\n$/);
});

const changeNothing: [string, Record<string, string>, string, RegExp][] = [
  ["over a file", { "test/about.test.ts": "" }, "page", /^[^\n]* exists already: test\/about\.test\.ts\n$/],
  [
    "over a route",
    { "app/routes.ts": ROUTES.replace('"/"', '"/about"') },
    "page",
    /^[^\n]* a route "about" already\.\n$/,
  ],
  [
    "to a list that a function makes",
    { "app/routes.ts": "export default flatRoutes();\n" },
    "page",
    /^[^\n]*route\("about", .*\n$/,
  ],
  ["with an unknown name", {}, "sing-in", /^There is no example "sing-in"\. Do you mean "sign-in"\?\n$/],
  ["with a path as its name", {}, "../docs", /^There is no example/],
];
test.each(changeNothing)("an example added %s changes nothing", (_title, files, name, message) => {
  const site = createSite(files);
  const before = readSite(site);
  expect(add(site, "add", name)).toEqual({ status: 1, stdout: "", stderr: expect.stringMatching(message) });
  expect(readSite(site)).toEqual(before);
});

test("without the layout, an example's pages are beside the others", () => {
  const site = createSite();
  expect(add(site, "add", "page").stdout).not.toContain("layout");
  expect(readSite(site)["app/routes.ts"]).toBe(ROUTES.replace("[\n", '[\n  route("about", "routes/about.tsx"),\n'));
});

test("an example added twice changes nothing", () => {
  const site = createSite();
  expect(add(site, "add", "page").status).toBe(0);
  const before = readSite(site);
  expect(add(site, "add", "page")).toMatchObject({ status: 1, stderr: expect.stringContaining("exists already") });
  expect(readSite(site)).toEqual(before);
});

test("outside a site, the command names what is missing", () => {
  const site = createSite();
  rmSync(join(site, "app"), { recursive: true });
  expect(add(site, "add", "page")).toMatchObject({ status: 1, stderr: expect.stringContaining("no app/routes.ts") });
});

test.each([
  { manifest: { dependencies: { valibot: "1.0.0" } }, isChanged: false },
  { manifest: { devDependencies: { valibot: "1.0.0" } }, isChanged: true },
])("a package that is there keeps its version: $manifest", ({ manifest, isChanged }) => {
  const site = createSite({ "package.json": JSON.stringify(manifest, null, 4) });
  const { stdout } = add(site, "add", "form");
  expect(stdout).toMatch(/^kept {4}valibot 1\.0\.0: the example is tested with \d/m);
  expect(stdout.includes("run npm install")).toBe(isChanged);
  const text = readSite(site)["package.json"] ?? "";
  expect(JSON.parse(text).dependencies).toEqual({ valibot: "1.0.0" });
  expect(text).toContain('\n    "dependencies"');
});

const VITE_PLUGIN = "@mdx-js/rollup";
test.each([
  ["isn't there", {}, { devDependencies: { [VITE_PLUGIN]: expect.stringMatching(/^\d/) } }],
  ["is there", { devDependencies: { [VITE_PLUGIN]: "3.0.0" } }, undefined],
  ["is in dependencies", { dependencies: { [VITE_PLUGIN]: "3.0.0" } }, undefined],
])("a package for development that %s has its place", (_title, manifest, expected) => {
  const site = createSite({ "package.json": JSON.stringify(manifest) });
  add(site, "add", "mdx");
  expect(JSON.parse(readSite(site)["package.json"] ?? "")).toEqual(expected ?? manifest);
});

const LIST = 'import { index, type RouteConfig } from "@react-router/dev/routes";\n\n';
const A = 'route("a", "routes/a.tsx")';
const lists: [string, string, string | undefined, string | undefined][] = [
  [
    "React Router's own list",
    `${LIST}export default [index("routes/home.tsx")] satisfies RouteConfig;\n`,
    undefined,
    `${LIST.replace("Config }", "Config, route }")}export default [\n  ${A},\n  index("routes/home.tsx"),\n] satisfies RouteConfig;\n`,
  ],
  [
    "a layout on one line",
    `${LIST}export default [\n  layout("layout/layout.tsx", [index("b.tsx")]),\n];\n`,
    "layout/layout.tsx",
    `${LIST.replace("Config }", "Config, route }").replace("index,", "index, layout,")}export default [\n  layout("layout/layout.tsx", [${A}, index("b.tsx")]),\n];\n`,
  ],
  [
    "a layout on several lines, with comments",
    `${LIST}export default [\n  layout("layout/layout.tsx", [\n    // [\n    index("b.tsx"),\n  ]),\n];\n`,
    "layout/layout.tsx",
    `${LIST.replace("Config }", "Config, route }").replace("index,", "index, layout,")}export default [\n  layout("layout/layout.tsx", [\n    ${A},\n    // [\n    index("b.tsx"),\n  ]),\n];\n`,
  ],
  ["a list that is changed later", `${LIST}export default [index("a.tsx")].reverse();\n`, undefined, undefined],
  ["a list in a comment", `${LIST}/*\nexport default [\n];\n*/\nexport default pages;\n`, undefined, undefined],
  ["an unclosed list", `${LIST}export default [\n`, undefined, undefined],
  ["a list without helpers", "export default [];\n", undefined, undefined],
  [
    "a layout in another list",
    `${LIST}const pages = layout("layout/layout.tsx", []);\nexport default [pages];\n`,
    "layout/layout.tsx",
    undefined,
  ],
];
test.each(lists)("routes are added safely to %s", (_title, text, layoutFile, expected) => {
  expect(addRoutes(text, [A], layoutFile)).toBe(expected);
});

test("a layout whose line is too long gets a line for each page", () => {
  const page = (name: string) => `route("${name.repeat(20)}", "routes/${name.repeat(20)}.tsx")`;
  const first = addRoutes(ROUTES, [page("a")], "layout/layout.tsx") ?? "";
  expect(addRoutes(first, [page("b")], "layout/layout.tsx")).toContain(
    `  layout("layout/layout.tsx", [\n    ${page("b")},\n    ${page("a")},\n  ]),\n`,
  );
});
