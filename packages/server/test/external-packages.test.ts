import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
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
