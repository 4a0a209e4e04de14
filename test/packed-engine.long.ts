// A product without the folder packages/, whose engine is a packed one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { copyProject } from "./support/copy-project.ts";
import { CLEAN_ENV, packEngine, replaceEngine, run } from "./support/packed-engine.ts";

// A product that uses a packed engine already has nothing to pack.
describe.skipIf(!existsSync("packages/server"))("a product with a packed engine", () => {
  let product: string;
  let tarball: string;
  beforeAll(() => {
    product = copyProject({ withTests: true });
    tarball = packEngine(product);
    replaceEngine(product, basename(tarball));
    // Removes the packages that only the engine's tests need.
    run(product, "npm install --prefer-offline --no-audit --no-fund");
  }, 600_000);
  afterAll(() => rmSync(product, { recursive: true }));

  test("publint finds no fault in the package", () => {
    run(".", `node tools/run.js publint run --strict ${tarball}`);
  });

  test("copies an example of the package", () => {
    expect(run(product, "npm run --silent add page")).toContain("added   app/routes/about.tsx\n");
    expect(readFileSync(`${product}/app/routes.ts`, "utf8")).toContain('route("about", "routes/about.tsx")');
  });

  test("typechecks", () => {
    run(product, "npm run typecheck");
  });

  test("builds, and passes the site's tests", { timeout: 3_600_000 }, () => {
    const output = run(product, "npx vitest run --project unit --project fast");
    expect(output).toMatch(/^ +Test Files +(\d+) passed \(\1\)$/m);
  });

  test("shows the changes of a page and of server.ts in development", async () => {
    const url = await startDevelopment(product);
    const get = async (path: string) => {
      const response = await fetch(url + path);
      return { reloaded: response.headers.get("X-Reloaded"), text: await response.text() };
    };
    writeFileSync(`${product}/app/routes/news.tsx`, "export default () => <h1>Old news</h1>;\n");
    edit(`${product}/app/routes.ts`, "[\n", '[\n  route("/news", "routes/news.tsx"),\n');
    await expect.poll(async () => (await get("/news")).text).toContain("Old news");
    edit(`${product}/app/routes/news.tsx`, "Old", "Good");
    await expect.poll(async () => (await get("/news")).text).toContain("Good news");
    expect((await get("/")).reloaded).toBe(null);
    const middleware = '(_req, res, next) => {\n      res.set("X-Reloaded", "yes");\n      next();\n    }';
    edit(`${product}/server.ts`, "app.use(receive);", `$&\n    app.use(${middleware});`);
    await expect.poll(async () => (await get("/")).reloaded).toBe("yes");
  });
});

/** Starts the development server of a project. Resolves with its URL. */
async function startDevelopment(cwd: string) {
  const env = { ...CLEAN_ENV, NO_COLOR: "1", PORT: "0" };
  const child = spawn(process.execPath, ["node_modules/.bin/react-router", "dev"], { cwd, env, stdio: "pipe" });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill();
    await exited;
  });
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", (line) => lines.push(line));
  const findUrl = () => /http:\/\/localhost:\d+/.exec(lines.join("\n"))?.[0];
  await Promise.race([expect.poll(findUrl).toBeDefined(), exited]);
  return findUrl() ?? expect.unreachable(lines.join("\n"));
}

/** Saves a file in one step, so that the server never reads an empty one. */
function edit(file: string, from: string, to: string) {
  const text = readFileSync(file, "utf8");
  expect(text).toContain(from);
  writeFileSync(`${file}.edited`, text.replace(from, to));
  renameSync(`${file}.edited`, file);
}
