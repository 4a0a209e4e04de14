// The imports that each part of the project may have. A part that isn't listed may import nothing.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

/** The files and folders of the project, and the frameworks, that files of a part may import beside the part itself. */
const ALLOWED: Record<string, string[]> = {
  app: [
    "react-router",
    "server/tracing", // Optional.
  ],
  "server/tracing": ["express", "react-router"],
  "server/http": [],
  "server/response": ["app/report-error", "server/http"],
  "server/chain": ["server/http", "server/pages"],
  "server/log-fields": [],
  "server/net": ["server/turns", "server/http", "server/limits"],
  "server/process": [],
  "server/settings": [],
  "server/limits": [],
  "server/limit-rate": [],
  "server/turns": [],
  "server/in-time": [],
  "server/streams": [],
  "server/semaphore": ["server/turns"],
  "server/ops": ["package.json", "server/in-time", "server/limits", "server/net"],
  "server/pages": ["app/cache-control", "app/handle", "app/routes", "react-router", "server/http", "server/response"],
  "server/cache": [
    "app/context",
    "react-router",
    "server/http",
    "server/in-time",
    "server/limit-rate",
    "server/ops/metrics",
    "server/pages",
    "server/response",
    "server/semaphore",
    "server/settings",
  ],
  "server/middleware": [
    "app/report-error",
    ...["express", "package.json", "server/cache", "server/chain", "server/http", "server/limit-rate"],
    ...[
      "server/limits",
      "server/log-fields",
      "server/ops/metrics",
      "server/pages",
      "server/response",
      "server/semaphore",
    ],
  ],
  "server/middleware/render": ["@react-router/express", "app/context", "react-router"],
  "server/app": [
    ...["express", "server/cache", "server/chain", "server/limits", "server/middleware", "server/ops/metrics"],
    ...["server/pages", "server/response", "server/semaphore"],
    "server/tracing",
    "app/report-error",
  ],
  // A team's own files are in `server/services/`.
  "server/services": ["app/context", "express", "react-router", "server/cache", "server/http", "server/settings"],
  "server/development": ["server/app", "server/limits", "server/services", "server/settings"],
  server: [
    ...["server/app", "server/cache", "server/http", "server/limit-rate", "server/limits", "server/middleware"],
    ...["server/net", "server/ops", "server/process", "server/response", "server/semaphore", "server/services"],
    "server/settings",
  ],
};

const FRAMEWORKS = /^(@react-router\/express|express|react-router)$/;

const isIn = (path: string, part: string) => path === part || path.startsWith(`${part}/`);

/** The parts that a file belongs to. */
const partsOf = (path: string) => Object.keys(ALLOWED).filter((part) => part !== "server" && isIn(path, part));

/** The imports of a file: paths from the project's root, without extension, and frameworks. */
function findImports(file: string) {
  const names = ts.preProcessFile(readFileSync(file, "utf8")).importedFiles.map(({ fileName }) => fileName);
  return names
    .filter((name) => FRAMEWORKS.test(name) || (name.startsWith(".") && !name.includes("/+types/")))
    .map((name) => (name.startsWith(".") ? join(dirname(file), name) : name).replace(/\.(tsx?|css\?\w+)$/, ""));
}

const FILES = ["app", "server"]
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`))
  .filter((name) => /(?<!\.test)\.tsx?$/.test(name));

test.each(["server.ts", ...FILES])("%s imports only what its part may import", (file) => {
  const path = file.replace(/\.tsx?$/, "");
  const parts = path === "server" ? ["server"] : partsOf(path);
  const allowed = parts.flatMap((part) => [part, ...(ALLOWED[part] ?? [])]);
  const forbidden = findImports(file).filter((imported) => !allowed.some((part) => isIn(imported, part)));
  expect(forbidden, "ALLOWED in test/imports.test.ts lists what each part may import").toEqual([]);
});
