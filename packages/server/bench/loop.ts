// `npm run bench -- loop` prints how long a developer waits, with this project and with React Router's template: medians of
// rounds in turn, and their ratios. Fails if a ratio is larger than its bound. BENCH_ROUNDS (5) makes it longer or shorter.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { findFreePort, launchChromium } from "react-router-express-server/testing";
import { FLUSH_AFTER_MS } from "../bin/react-router.js";
import engine from "../package.json" with { type: "json" };
import { SERVER_ENV } from "../test/support/start-server.ts";
import { createTemplate, install } from "./create-template.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** In each round. */
const EDITS = 5;
/** The largest ratios, on a busy machine. */
const BOUNDS = {
  "first response": 2,
  "first page, hydrated": 2.5,
  "an edit shows": 3,
  "an edit of server.ts shows": Number.POSITIVE_INFINITY,
  build: 2.6,
  "type check": 1,
};
type Metric = keyof typeof BOUNDS;
type Site = { name: string; folder: string; command: string };
/** Keeps the time since `since`. */
type Recorder = (metric: Metric, since: number) => void;

const env = { ...SERVER_ENV, HOME: process.env.HOME };
const run = (folder: string, ...command: string[]) => promisify(execFile)("npx", command, { cwd: folder, env });

/** Makes a product of the project, and installs it. */
async function createProduct() {
  const root = resolve(import.meta.dirname, "../../..");
  const folder = mkdtempSync(join(tmpdir(), "project-"));
  const isCopied = (path: string) => !/^\/(\.git|\.react-router|build)$|\/node_modules$/.test(path.slice(root.length));
  cpSync(root, folder, { recursive: true, filter: isCopied });
  await promisify(execFile)(process.execPath, ["template/rename.js", "product"], { cwd: folder });
  await install(folder);
  return folder;
}

/** Adds to the template what React Router's has, too: Tailwind and TypeScript. */
async function createTypedTemplate() {
  const names = ["@tailwindcss/vite", "tailwindcss", "@types/node", "@types/react", "@types/react-dom"] as const;
  const packages = Object.fromEntries(names.map((name) => [name, engine.devDependencies[name]]));
  // React Router 7's packages support no later version. The project overrides that.
  const folder = await createTemplate({ ...packages, typescript: "6.0.3" });
  const config = readFileSync(join(folder, "vite.config.ts"), "utf8");
  writeFileSync(
    join(folder, "vite.config.ts"),
    `import tailwindcss from "@tailwindcss/vite";\n${config.replace("[reactRouter()]", "[tailwindcss(), reactRouter()]")}`,
  );
  const css = readFileSync(join(folder, "app/app.css"), "utf8");
  writeFileSync(join(folder, "app/app.css"), `@import "tailwindcss";\n${css}`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      include: ["**/*", ".react-router/types/**/*"],
      compilerOptions: {
        lib: ["DOM", "DOM.Iterable", "ES2022"],
        types: ["node", "vite/client"],
        target: "ES2022",
        module: "ES2022",
        moduleResolution: "bundler",
        jsx: "react-jsx",
        rootDirs: [".", "./.react-router/types"],
        strict: true,
        esModuleInterop: true,
        verbatimModuleSyntax: true,
        noEmit: true,
        skipLibCheck: true,
      },
    }),
  );
  return folder;
}

/** Saves a file in one step, so that the server never reads an empty one. */
function edit(file: string, from: string | RegExp, to: string) {
  writeFileSync(`${file}.edited`, readFileSync(file, "utf8").replace(from, to));
  renameSync(`${file}.edited`, file);
}

/** Rejects after two minutes. */
async function until(isDone: () => Promise<boolean>) {
  const signal = AbortSignal.timeout(120_000);
  while (!(await isDone().catch(() => false))) await setTimeout(5, undefined, { signal });
}

const browser = await launchChromium();

/** The server runs for at least `ms`. */
async function measureDevelopment({ folder, command }: Site, record: Recorder, ms: number) {
  const url = `http://localhost:${await findFreePort()}`;
  const page = await (await browser.newContext()).newPage();
  const startedAt = performance.now();
  const args = [`node_modules/.bin/${command}`, "dev", "--port", new URL(url).port];
  const server = spawn(process.execPath, args, { cwd: folder, env, stdio: "ignore" });
  try {
    await until(async () => (await fetch(url)).ok || server.exitCode !== null);
    record("first response", startedAt);
    await page.goto(url, { waitUntil: "commit" });
    // React marks the elements that it has hydrated.
    await page.waitForFunction(() => Object.keys(document.querySelector("main") ?? {}).length > 0);
    record("first page, hydrated", startedAt);
    await page.waitForLoadState("networkidle");
    for (let count = 0; count < EDITS; count += 1) {
      // Vite's chokidar misses a file that is replaced twice within 0.1 s, which no editor does.
      await setTimeout(500);
      const text = `Edited ${startedAt} ${count}`;
      const editedAt = performance.now();
      edit(join(folder, "app/routes/home.tsx"), /<h1>.*<\/h1>/, `<h1>${text}</h1>`);
      await page.waitForFunction((text) => document.querySelector("h1")?.textContent === text, text);
      record("an edit shows", editedAt);
    }
    if (!readdirSync(folder).includes("server.ts")) return;
    const file = join(folder, "server.ts");
    const source = readFileSync(file);
    const serverEditedAt = performance.now();
    edit(
      file,
      /app\.use\(receive\);/,
      `$&\napp.use((_req, res, next) => next(void res.set("X-Edit", "${startedAt}")));`,
    );
    await until(async () => (await fetch(url)).headers.get("X-Edit") === String(startedAt));
    record("an edit of server.ts shows", serverEditedAt);
    writeFileSync(file, source);
    await setTimeout(Math.max(0, startedAt + ms - performance.now()));
  } finally {
    await page.context().close();
    server.kill();
    await once(server, "exit");
  }
}

// The project's types come from the engine's declarations, which `npm run typecheck` builds first.
await run(resolve(import.meta.dirname, "../../.."), "tsc", "-b", "packages/server/tsconfig.build.json");
const samples = new Map<string, number[]>();
function median(key: string) {
  const sorted = (samples.get(key) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
const sites: Site[] = [
  { name: "project", folder: await createProduct(), command: "react-router-express-server" },
  { name: "template", folder: await createTypedTemplate(), command: "react-router" },
];

/** Measures both sites in turn. The first, uncounted round fills the caches. */
async function repeat(measure: (site: Site, record: Recorder, round: number) => Promise<void>) {
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const site of sites) {
      const record: Recorder = (metric, since) => {
        const key = `${site.name}/${metric}`;
        if (round > 0) samples.set(key, [...(samples.get(key) ?? []), performance.now() - since]);
      };
      await measure(site, record, round);
    }
  }
}

// Each kind of work has its own rounds, since a build slows down a start right after it.
await repeat((site, record, round) => measureDevelopment(site, record, round > 0 ? 0 : FLUSH_AFTER_MS + 5000));
await repeat(async ({ folder, command }, record) => {
  const builtAt = performance.now();
  await run(folder, command, "build");
  record("build", builtAt);
});
await repeat(async ({ folder }, record) => {
  await run(folder, "react-router", "typegen");
  const checkedAt = performance.now();
  await run(folder, "tsc");
  record("type check", checkedAt);
});
await browser.close();
for (const { folder } of sites) rmSync(folder, { recursive: true });

console.log(`Node ${process.versions.node}, medians of ${ROUNDS} rounds in turn\n`);
console.log("| | ms | template, ms | ratio | bound |\n|---|---:|---:|---:|---:|");
for (const [metric, bound] of Object.entries(BOUNDS)) {
  const [ours, theirs] = [median(`project/${metric}`), median(`template/${metric}`)];
  const ratio = ours / theirs;
  const cells = [ours.toFixed(0), ...(theirs ? [theirs.toFixed(0), ratio.toFixed(2), String(bound)] : ["", "", ""])];
  console.log(`| ${metric} | ${cells.join(" | ")} |`);
  if (ratio > bound) process.exitCode = 1;
}
process.exit();
