import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { build } from "./support/build.ts";
import { copySite } from "./support/copy-site.ts";

test("a second build compresses only the files that have changed", async () => {
  const folder = copySite();
  // The copy's own.
  const cache = join(folder, "node_modules/.cache");
  rmSync(cache, { force: true });
  mkdirSync(cache);
  await build(folder);
  const variants = join(cache, "react-router-express-server");
  const names = readdirSync(variants);
  for (const name of names) writeFileSync(join(variants, name), "reused");

  writeFileSync(join(folder, "public/new.txt"), "new ".repeat(100));
  await build(folder);
  const client = join(folder, "build/client");
  const read = (name: string) => readFileSync(join(client, name));
  const compressed = readdirSync(client, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(br|gz)$/.test(name),
  );
  const isReused = (name: string) => read(name).toString() === "reused";
  expect(compressed.filter((name) => !isReused(name)).sort()).toEqual(["new.txt.br", "new.txt.gz"]);
  expect(brotliDecompressSync(read("new.txt.br")).toString()).toBe("new ".repeat(100));
  expect(gunzipSync(read("new.txt.gz")).toString()).toBe("new ".repeat(100));
  expect(readdirSync(variants)).toHaveLength(names.length + 2);
});
