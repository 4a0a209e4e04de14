import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

const { permissions, steps } = parse(readFileSync(".github/workflows/release.yml", "utf8")).jobs.image;
const DIGEST = `sha256:${"ab".repeat(32)}`;

/** Stands for docker, cosign and jq: appends its arguments to a file. */
const STUB = `#!/bin/sh
echo "$(basename "$0") $*" >>"$RUNNER_TEMP/calls"
[ "$(basename "$0")" = jq ] && echo ${DIGEST}
exit 0
`;

test("the release workflow signs the digest that it has pushed, without a key, and its summary has the digest", () => {
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["docker", "cosign", "jq"]) writeFileSync(join(folder, name), STUB, { mode: 0o755 });
  const { run } = steps.find(({ run }: { run?: string }) => run);
  execFileSync("bash", ["-e", "-c", run], {
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      IMAGE: "ghcr.io/Example/Shop",
      SOURCE: "https://github.com/Example/Shop",
      USER: "ada",
      TOKEN: "secret",
      GITHUB_SHA: "HEAD",
      GITHUB_REF_NAME: "v1.2.3",
      GITHUB_STEP_SUMMARY: join(folder, "summary"),
      RUNNER_TEMP: folder,
    },
    stdio: "ignore",
  });
  const calls = readFileSync(join(folder, "calls"), "utf8");
  expect(calls).toContain("--tag ghcr.io/example/shop:1.2.3 .\n");
  expect(calls).toContain(`cosign sign --yes ghcr.io/example/shop@${DIGEST}\n`);
  expect(calls).not.toContain("secret");
  expect(readFileSync(join(folder, "summary"), "utf8")).toBe(`ghcr.io/example/shop@${DIGEST}\n`);
  expect(permissions["id-token"]).toBe("write");
});
