import { join } from "node:path";
import { expect, test } from "vitest";
import { DOCS, makeFigures } from "../bench/figures.ts";

test("docs/ has the plots and the table of the figures that were measured (npm run bench -- plots)", async () => {
  for (const [file, content] of Object.entries(makeFigures())) {
    await expect(content).toMatchFileSnapshot(join(DOCS, file));
  }
});
