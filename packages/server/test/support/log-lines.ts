import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ESTree, parseSync, Visitor } from "vite";

const SRC = join(import.meta.dirname, "../../src");

/** A message of the log. `limit` is the most lines per second. */
export type Line = { message: string; level: string; limit: string; part: string };

const LEVELS = ["fatal", "error", "warn", "info", "debug"];

/** The log calls of a file. Throws at one whose message isn't a literal. */
function findLinesOf(file: string) {
  const source = readFileSync(join(SRC, file), "utf8");
  const textOf = ({ start, end }: ESTree.Node) => source.slice(start, end);
  const part = /^parts\/(.*?)\//.exec(file)?.[1] ?? file.split("/")[0] ?? "";
  const lines: Line[] = [];
  /** The limit of each enclosing call. */
  const limits = [""];
  const visitor = new Visitor({
    CallExpression({ callee, arguments: args }) {
      let limit = limits.at(-1) ?? "";
      // `limitRate(MAX_LINES, (fields) => log.error(fields, "…"))`
      if (textOf(callee) === "limitRate") {
        const name = args[0] && textOf(args[0]);
        limit = new RegExp(`^const ${name} = (\\d+);`, "m").exec(source)?.[1] ?? "";
        if (!limit) throw new Error(`${file}: the limit ${name} isn't a number`);
      }
      limits.push(limit);
      const level = /(?:^|\.)log\.(\w+)$/.exec(textOf(callee))?.[1] ?? "";
      if (!LEVELS.includes(level)) return;
      const messages = readMessages(args.at(-1));
      if (!messages) throw new Error(`${file}: the message of a log line isn't a literal: ${textOf(callee)}()`);
      lines.push(...messages.map((message) => ({ message, level, limit, part })));
    },
    "CallExpression:exit": () => void limits.pop(),
  });
  visitor.visit(parseSync(file, source, { preserveParens: false }).program);
  return lines;
}

/** Returns undefined if a branch isn't a literal. */
function readMessages(node: ESTree.Node | undefined): string[] | undefined {
  if (node?.type === "Literal" && typeof node.value === "string") return [node.value];
  if (node?.type !== "ConditionalExpression") return undefined;
  const [consequent, alternate] = [readMessages(node.consequent), readMessages(node.alternate)];
  return consequent && alternate && [...consequent, ...alternate];
}

/** The log calls of the engine. */
export function findLines() {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  return files.filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name)).flatMap(findLinesOf);
}
