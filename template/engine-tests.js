import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { removeFiles, removeFolder, replace, uninstall } from "./files.js";

/** Only the engine's own tests and benchmark import them. */
const PACKAGES = [
  "@fastify/busboy",
  "@node-rs/argon2",
  "@opentelemetry/sdk-trace-node",
  "@redis/client",
  "@trpc/server",
  "@types/autocannon",
  "@types/compression",
  "@types/cookie-session",
  "@types/express-session",
  "@types/pg",
  "@types/ws",
  "@vercel/nft",
  "@vitejs/plugin-basic-ssl",
  "autocannon",
  "compression",
  "cookie-session",
  "csp_evaluator",
  "express-rate-limit",
  "express-session",
  "fast-check",
  "helmet",
  "pg",
  "ws",
];

/** They test the engine, its examples, and documents of the template. */
const ENGINE_TESTS = [
  "test/all-examples.long.ts",
  "test/base-path.long.ts",
  "test/examples-with-postgres.long.ts",
  "test/examples.long.ts",
  "test/middleware.long.ts",
  "test/packed-engine.long.ts",
  "test/react-router-8.long.ts",
  "test/start-in-a-minute.long.ts",
  "test/support/add-examples.ts",
  "test/support/start-services.ts",
  "test/updating.long.ts",
  "test/works-with.long.ts",
];

/** A product gets the engine tested. Its own commands leave the engine's tests, and what only these install, out. */
export function leaveOutEngineTests() {
  const before = JSON.parse(readFileSync("package.json", "utf8"));
  if (!("fast-check" in before.devDependencies)) return; // Done before. Meanwhile, the site may use some of the packages.
  // An example of `npm run add` may have made one of them a package of the site.
  uninstall(PACKAGES.filter((name) => !(name in before.dependencies)));
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const { scripts, knip } = manifest;
  for (const name of ["test", "test:long"]) scripts[name] = scripts[name].replace(/ && npm [^&]* --workspaces/, "");
  delete scripts.bench;
  removeFiles(ENGINE_TESTS);
  if (existsSync("test/fixtures/works-with")) removeFolder("test/fixtures/works-with");
  delete knip.workspaces["packages/server"];
  delete knip.workspaces["."].ignoreDependencies;
  manifest.knip = { ignoreWorkspaces: ["packages/*"], ...knip };
  writeFileSync("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
  replace("biome.json", /"!\.agents"/, '$&, "!packages"');
  replace("CONTRIBUTING.md", /, the engine's tests,(?= and knip)/, "");
  replace("README.md", /, the engine's too(?=\n)/, "");
  replace("CONTRIBUTING.md", /.*(npm run bench|packages\/server\/test\/).*\n/g, "");
}
