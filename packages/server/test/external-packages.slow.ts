import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verify } from "@node-rs/argon2";
import { expect, onTestFinished, test } from "vitest";
import { SITE } from "./support/site.ts";
import { SERVER_ENV, startServer } from "./support/start-server.ts";

test("the build contains the external package, and runs outside the project", async () => {
  const folder = mkdtempSync(join(tmpdir(), "greeting-alone-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const filter = (path: string) => !path.endsWith("film.mp4");
  cpSync(join(SITE, "build"), join(folder, "build"), { recursive: true, filter });
  expect(readdirSync(join(folder, "build/node_modules"))).toContain("@node-rs");

  const { url, stop } = await startServer(SERVER_ENV, folder);
  const response = await fetch(`${url}/example-pages/password`, {
    method: "POST",
    body: new URLSearchParams({ password: "secret" }),
  });
  expect(await verify(await response.json(), "secret")).toBe(true);
  expect(await stop()).toBe(0);
});

test("browsers get the production build of React Router", () => {
  const folder = `${SITE}/build/source-maps`;
  const maps = readdirSync(folder).filter((name) => name.startsWith("entry.client"));
  const { sources } = JSON.parse(readFileSync(`${folder}/${maps[0]}`, "utf8")) as { sources: string[] };
  const builds = sources.flatMap((source) => /react-router\/dist\/(\w+)/.exec(source)?.[1] ?? []);
  expect([...new Set(builds)]).toEqual(["production"]);
});
