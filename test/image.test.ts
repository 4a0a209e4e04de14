import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { validate } from "dockerfile-utils";
import { expect, onTestFinished, test } from "vitest";
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

// A site below a path has no page at `/`.
test.each([
  [200, 0],
  [404, 0],
  [503, 1],
])("a health check that gets %i exits with %i", async (status, expected) => {
  const server = createServer((_req, res) => res.writeHead(status).end()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const command = /HEALTHCHECK .*\n {2}CMD (.*)/.exec(DOCKERFILE)?.[1] as string;
  const [, ...args] = JSON.parse(command) as string[];
  const { port } = server.address() as AddressInfo;
  const [code] = await once(spawn(process.execPath, args, { env: { PORT: String(port), OPS_PORT: "0" } }), "exit");
  expect(code).toBe(expected);
});

test("the types are those of the Node that ships", () => {
  const [major] = devDependencies["@types/node"].split(".");
  expect(DOCKERFILE).toContain(`ARG BUILD_IMAGE=node:${major}-`);
  expect(DOCKERFILE).toContain(`/nodejs${major}-`);
});
