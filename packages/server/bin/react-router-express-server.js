#!/usr/bin/env node
// `react-router-express-server dev` and `build` run React Router's command. `react-router-express-server add` lists the
// examples, and `react-router-express-server add NAME` copies one to the site.
import { parseArgs } from "node:util";
import { addExample, listExamples } from "./add-example.js";
import { runReactRouter } from "./react-router.js";

const USAGE = "Usage: npx react-router-express-server dev | build | add [NAME], in the folder of your site";

function listAll() {
  const examples = listExamples();
  const width = Math.max(...examples.map(({ name }) => name.length));
  const lines = examples.map(({ name, description }) => `  ${name.padEnd(width)}  ${description}`);
  return ["Add one of these: npx react-router-express-server add NAME", "", ...lines].join("\n");
}

/** @param {string[]} args */
function add(args) {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [name, ...rest] = positionals;
  if (rest.length > 0) throw new Error(USAGE);
  return name === undefined ? listAll() : addExample(name);
}

try {
  const [command, ...args] = process.argv.slice(2);
  if (command === "dev" || command === "build") runReactRouter();
  else if (command === "add") console.log(add(args));
  else throw new Error(USAGE);
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}
