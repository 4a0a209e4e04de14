// `npm run remove -- toast tooltip` removes features, and itself with the last one.
import { existsSync } from "node:fs";
import { finish, removeFiles, removeFolder, removeScript, replace, uninstall } from "./files.js";

/** A component's import and its tags, which may share a line with others. */
const importAndTags = (name) => new RegExp(`^import .*\\b${name}\\b.*\n|\\s*</?${name}( /)?>`, "gm");

/** In `{deploy,test}`, all except `test`. */
const DEPLOY_IN_GLOB = /\{deploy,(?=test\})|(?<=\{deploy,test)\}/g;

/** A feature's folder, the packages that nothing else uses, the engine's tests of it, and its parts of other files. */
const FEATURES = {
  layout: {
    folder: "app/layout",
    packages: [],
    parts: {
      "docs/screenshots.ts": /.*[lL]ayout.*\n/g,
      "test/support/copy-project.ts": / *\/\/ As in a product.*?(?= {2}writeFileSync)/s,
      "test/fixtures/product/app/routes.ts": /layout\("layout\/layout\.tsx", \[|(?<=\.\.\.pages)\]\)/g,
    },
  },
  toast: {
    folder: "app/toast",
    packages: ["@radix-ui/react-alert-dialog", "@radix-ui/react-toast", "sonner"],
    parts: {
      "app/root.tsx": /^import .*LazyToasters.*\n|\s*\{needsOwnDocument \|\| <LazyToasters \/>\}/gm,
      "vite.config.ts": /^import .*withoutToastStyles.*\n| *withoutToastStyles\(\),( *\/\/.*\n)?/gm,
    },
  },
  tooltip: {
    folder: "app/tooltip",
    packages: ["@radix-ui/react-tooltip"],
    parts: { "app/root.tsx": importAndTags("TooltipProvider"), "app/toast/toast.slow.ts": /.*tooltip.*\n/i },
  },
  query: {
    folder: "app/query",
    packages: ["@tanstack/react-query"],
    parts: { "app/root.tsx": importAndTags("QueryProvider") },
  },
  "theme-choice": {
    folder: "app/theme-choice",
    packages: [],
    parts: {
      "app/toast/README.md": /\nIf users can choose the theme.*?\n(?=\n)/s,
      "docs/styles-and-components.md": /.*theme-choice.*\n/,
      "test/samples.test.ts": /.*(theme-choice|ThemeScript).*\n/g,
      "test/visual.test.ts": /.*data-theme.*\n/,
    },
  },
  deploy: {
    folder: "deploy",
    packages: ["yaml"],
    tests: ["frozen-database.long.ts", "hung-route.long.ts", "support/proxies.ts"],
    parts: {
      ".github/workflows/ci.yml": / (caddy|prometheus|varnish)\b/g,
      "package.json": DEPLOY_IN_GLOB,
      "test/imports.test.ts": /"deploy", /,
      "test/links.test.ts": /"deploy", /,
      "test/support/copy-project.ts": /"deploy", /,
      "tools/docs/.vitepress/config.js": / *"deploy",\n/,
      "vitest.config.ts": DEPLOY_IN_GLOB,
    },
  },
};

const listFeatures = () => Object.keys(FEATURES).filter((name) => existsSync(FEATURES[name].folder));

const given = [...new Set(process.argv.slice(2))];
if (given.length === 0 || given.some((name) => !(name in FEATURES))) {
  console.error(`Name one or more of these: npm run remove -- ${listFeatures().join(" ")}`);
  process.exit(1);
}
const names = given.filter((name) => listFeatures().includes(name));
for (const name of given) if (!names.includes(name)) console.log(`${name} is removed already`);
if (names.length === 0) process.exit();
const features = names.map((name) => FEATURES[name]);

uninstall(features.flatMap((feature) => feature.packages));
for (const { folder, tests = [] } of features) {
  removeFolder(folder);
  removeFiles(tests.map((file) => `packages/server/test/${file}`));
}
for (const { folder, parts } of features) {
  for (const [file, part] of Object.entries(parts)) {
    if (existsSync(file) && !replace(file, part, "")) console.log(`${file} differs: remove what is left by hand`);
  }
  const knipEntry = new RegExp(` *"${folder}/.*",\n`);
  replace("package.json", knipEntry, "");
  const rowOrItem = new RegExp(`^(\\|| *(-|\\d+\\.) ).*\\b${folder}/.*\n`, "gm");
  for (const file of ["CONTRIBUTING.md", "README.md", "docs/make-it-yours.md"]) replace(file, rowOrItem, "");
}
if (listFeatures().length === 0) {
  replace("docs/make-it-yours.md", /## Keep or remove\n.*?(?=## )/s, "");
  replace("template/rename.js", /.*npm run remove.*\n/, "");
  removeScript("remove");
}
finish();
console.log(`left: ${listFeatures().join(" ") || "no feature"}`);
