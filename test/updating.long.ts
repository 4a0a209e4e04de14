// A product from the first commit with the engine's folder gets today's engine, in both ways of docs/updating.md.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startServer } from "react-router-express-server/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packEngine, replaceEngine, run } from "./support/packed-engine.ts";

const ENGINE = "packages/server";
const FIRST =
  existsSync(".git") && run(".", `git log --diff-filter=A --format=%H -- ${ENGINE}/package.json | tail -n 1`).trim();

/** The product's own part of server.ts. */
const STATUS = `app.get("/status", (_req, res) => {
      res.json({ ours: true });
    });`;

describe.skipIf(!FIRST || !existsSync(ENGINE))("a product from the first commit with the engine's folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "updating-"));
  const [template, product] = [join(folder, "template"), join(folder, "product")];
  afterAll(() => rmSync(folder, { recursive: true }));

  beforeAll(() => {
    run(".", `git clone --quiet . ${template} && git -C ${template} switch --quiet -C main`);
    mkdirSync(product);
    run(".", `git archive ${FIRST} | tar -x -C ${product}`);
    const rewrite = (file: string, change: (text: string) => string) =>
      writeFileSync(`${product}/${file}`, change(readFileSync(`${product}/${file}`, "utf8")));
    rewrite("README.md", () => "# Ours\n");
    rewrite("app/routes/home.tsx", () => "export default function Home() {\n  return <h1>Ours</h1>;\n}\n");
    rewrite("server.ts", (text) => text.replace(/app\.use\(receive\);.*/, `$&\n    ${STATUS}`));
    run(product, "git init -q -b main && git config user.name team && git config user.email team@example.org");
    run(product, "git add --all && git commit -qm Begin");
  });

  test("gets today's folder", { timeout: 1_800_000 }, async () => {
    run(product, `git remote add template ${template} && git fetch -q template`);
    run(product, `git checkout --no-overlay template/main -- ${ENGINE}`);
    // Nothing else has changed, and nothing of the old folder is left.
    expect(run(product, `git diff --name-only HEAD -- . ':!${ENGINE}'`)).toBe("");
    expect(run(product, `git diff --name-only template/main -- ${ENGINE}`)).toBe("");
    await check();
  });

  test("gets today's engine as a packed one", { timeout: 1_800_000 }, async () => {
    const tarball = packEngine(template);
    run(product, `cp ${tarball} .`);
    replaceEngine(product, basename(tarball));
    await check();
  });

  async function check() {
    run(product, "npm install --prefer-offline --no-audit --no-fund");
    run(product, "npx react-router typegen && npx tsc && npm run build");
    const { url, stop } = await startServer({}, product);
    const home = await fetch(url);
    expect({ status: home.status, html: await home.text() }).toEqual({
      status: 200,
      html: expect.stringContaining("<h1>Ours</h1>"),
    });
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
    expect(await (await fetch(`${url}/status`)).json()).toEqual({ ours: true });
    expect(await stop()).toBe(0);
  }
});
