import { existsSync, readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { devDependencies, version } from "../package.json";

const DOCKERFILE = readFileSync("Dockerfile", "utf8");

test("the Dockerfile has a clean lint, and installs from a lockfile", () => {
  expect(validate(DOCKERFILE)).toEqual([]);
  expect(DOCKERFILE).not.toMatch(/\bnpm (i|install|add)\b/);
});

// pnpm, Yarn and Bun have other lockfiles.
const LOCKFILES = ["package-lock.json", "tools/package-lock.json", "tools/docs/package-lock.json"].filter(existsSync);

test.each(LOCKFILES)("%s names no registry", (lockfile) => {
  const resolved = readFileSync(lockfile, "utf8").match(/"resolved": "https?:.*/g) ?? [];
  expect(resolved, "run npm install with this project's .npmrc").toEqual([]);
});

test("the image has the package's version", () => {
  expect(DOCKERFILE).toContain(`org.opencontainers.image.version="${version}"`);
});

test("the types are those of the Node that ships", () => {
  const [major] = devDependencies["@types/node"].split(".");
  expect(DOCKERFILE).toContain(`ARG BUILD_IMAGE=node:${major}-`);
  expect(DOCKERFILE).toContain(`/nodejs${major}-`);
});
