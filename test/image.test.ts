import { readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { devDependencies, version } from "../package.json";

const DOCKERFILE = readFileSync("Dockerfile", "utf8");

test("the Dockerfile has a clean lint, and installs from a lockfile", () => {
  expect(validate(DOCKERFILE)).toEqual([]);
  expect(DOCKERFILE.match(/npm (ci|i|install|add)\b/g)).toEqual(["npm ci"]);
});

test.each(["package-lock.json", "tools/package-lock.json", "tools/docs/package-lock.json"])(
  "%s names no registry",
  (lockfile) => {
    const resolved = readFileSync(lockfile, "utf8").match(/"resolved": "https?:.*/g) ?? [];
    expect(resolved, "run npm install with this project's .npmrc").toEqual([]);
  },
);

test("the image has the package's version", () => {
  expect(DOCKERFILE).toContain(`org.opencontainers.image.version="${version}"`);
});

test("the types are those of the Node that ships", () => {
  const [major] = devDependencies["@types/node"].split(".");
  expect(DOCKERFILE).toContain(`ARG BUILD_IMAGE=node:${major}-`);
  expect(DOCKERFILE).toContain(`/nodejs${major}-`);
});
