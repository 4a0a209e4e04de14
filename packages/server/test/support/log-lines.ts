import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const SRC = join(import.meta.dirname, "../../src");

/** A message of the log. `limit` is the most lines per second. */
export type Line = { message: string; level: string; limit: string; part: string };

const LEVELS = ["fatal", "error", "warn", "info", "debug"];

/** The log calls of a file. Throws at one whose message isn't a literal. */
function findLinesOf(file: string) {
  const source = ts.createSourceFile(file, readFileSync(join(SRC, file), "utf8"), ts.ScriptTarget.Latest, true);
  const part = /^parts\/(.*?)\//.exec(file)?.[1] ?? file.split("/")[0] ?? "";
  const lines: Line[] = [];
  const visit = (node: ts.Node, limit: string) => {
    if (ts.isCallExpression(node)) {
      const { expression, arguments: args } = node;
      // `limitRate(MAX_LINES, (fields) => log.error(fields, "…"))`
      if (expression.getText() === "limitRate") {
        const name = args[0]?.getText();
        limit = new RegExp(`^const ${name} = (\\d+);`, "m").exec(source.text)?.[1] ?? "";
        if (!limit) throw new Error(`${file}: the limit ${name} isn't a number`);
      }
      const level = /(?:^|\.)log\.(\w+)$/.exec(expression.getText())?.[1] ?? "";
      if (LEVELS.includes(level))
        lines.push(...readMessages(args.at(-1), file).map((message) => ({ message, level, limit, part })));
    }
    ts.forEachChild(node, (child) => visit(child, limit));
  };
  visit(source, "");
  return lines;
}

function readMessages(node: ts.Expression | undefined, file: string): string[] {
  if (node && ts.isStringLiteralLike(node)) return [node.text];
  if (node && ts.isParenthesizedExpression(node)) return readMessages(node.expression, file);
  if (node && ts.isConditionalExpression(node))
    return [node.whenTrue, node.whenFalse].flatMap((branch) => readMessages(branch, file));
  throw new Error(`${file}: the message of a log line isn't a literal: ${node?.getText()}`);
}

/** The log calls of the engine. */
export function findLines() {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  return files.filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name)).flatMap(findLinesOf);
}
