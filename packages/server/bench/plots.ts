// `npm run bench -- plots` writes the plots and the table of docs/ from the measured figures, without measuring again.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DOCS, makeFigures } from "./figures.ts";

for (const [file, content] of Object.entries(makeFigures())) writeFileSync(join(DOCS, file), content);
execFileSync(process.execPath, ["../../tools/run.js", "biome", "format", "--write", DOCS]);
