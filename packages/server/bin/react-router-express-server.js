#!/usr/bin/env node
// `react-router-express-server add` lists the examples, and `react-router-express-server add NAME` copies one to the site.
import { parseArgs } from "node:util";
import { addExample, listExamples } from "./add-example.js";

const USAGE = "Usage: npx react-router-express-server add [NAME], in the folder of your site";

function listAll() {
  const examples = listExamples();
  const width = Math.max(...examples.map(({ name }) => name.length));
  const lines = examples.map(({ name, description }) => `  ${name.padEnd(width)}  ${description}`);
  return ["Add one of these: npx react-router-express-server add NAME", "", ...lines].join("\n");
}

/** @param {string[]} args */
function run(args) {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [command, name, ...rest] = positionals;
  if (command !== "add" || rest.length > 0) throw new Error(USAGE);
  return name === undefined ? listAll() : addExample(name);
}

try {
  console.log(run(process.argv.slice(2)));
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}
