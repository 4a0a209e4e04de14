#!/usr/bin/env node
// `react-router-express-server dev` and `build` are React Router's. `react-router-express-server add` lists the examples,
// and `react-router-express-server add NAME` copies one to the site.
import { parseArgs } from "node:util";

const USAGE = "Usage: npx react-router-express-server dev | build | add [NAME], in the folder of your site";

/** @param {string[]} args */
async function add(args) {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  if (positionals.length > 1) throw new Error(USAGE);
  const { addExample, listExamples } = await import("./add-example.js");
  const [name] = positionals;
  if (name !== undefined) return addExample(name);
  const examples = listExamples();
  const width = Math.max(...examples.map(({ name }) => name.length));
  const lines = examples.map(({ name, description }) => `  ${name.padEnd(width)}  ${description}`);
  return ["Add one of these: npx react-router-express-server add NAME", "", ...lines].join("\n");
}

try {
  const [command, ...args] = process.argv.slice(2);
  if (command === "dev" || command === "build") (await import("./react-router.js")).runReactRouter();
  else if (command === "add") console.log(await add(args));
  else throw new Error(USAGE);
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}
