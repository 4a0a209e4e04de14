// Adds entries to the text of app/routes.ts. All other text stays as it is.

const LINE_WIDTH = 120;
const HELPER = /\b(?:index|layout|prefix|route)(?=\()/g;
const IMPORT = /import \{([^{}]*)\} from "@react-router\/dev\/routes";/;

/** Replaces strings and comments by spaces, so that brackets in them don't count. @param {string} text */
const mask = (text) =>
  text.replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*.*?\*\//gs, (part) =>
    " ".repeat(part.length),
  );

/** The position of the bracket that closes the one at `start`, or -1. @param {string} masked @param {number} start */
function findEnd(masked, start) {
  let depth = 0;
  for (let at = start; at < masked.length; at++) {
    if (/[([{]/.test(masked.charAt(at))) depth += 1;
    if (/[)\]}]/.test(masked.charAt(at))) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/** The items of a list, which commas outside brackets separate. @param {string} list */
function splitItems(list) {
  const masked = mask(list);
  /** @type {number[]} */
  const commas = [];
  for (let at = 0; at < list.length; at++) {
    if (/[([{]/.test(masked.charAt(at))) at = findEnd(masked, at);
    else if (masked.charAt(at) === ",") commas.push(at);
  }
  const parts = [-1, ...commas].map((comma, index) => list.slice(comma + 1, commas[index]).trim());
  return parts.filter((part) => part !== "");
}

/** Puts items in front of those of the list at `start`. @param {string} text @param {number} start @param {string[]} items */
function insert(text, start, items) {
  const end = findEnd(mask(text), start);
  const [before, list, after] = [text.slice(0, start + 1), text.slice(start + 1, end), text.slice(end)];
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const indent = line.slice(0, line.search(/\S/));
  const onLines = (/** @type {string[]} */ all) => all.map((item) => `\n${indent}  ${item},`).join("");
  if (list.includes("\n")) return before + onLines(items) + list + after;
  const all = [...items, ...splitItems(list)];
  const width = `${line}${all.join(", ")}${after.split("\n")[0]}`.length;
  // As Biome formats a list of calls.
  const isShort = indent !== "" && width <= LINE_WIDTH;
  return isShort ? before + all.join(", ") + after : `${before + onLines(all)}\n${indent}${after}`;
}

/** As Biome sorts names: capitals first. @param {string} name */
const toKey = (name) => name.replace("type ", "").replace(/./g, (c) => c.toLowerCase() + Number(c > "Z"));

/** Imports the helpers that the entries call. @param {string} text @param {string} entries */
function importHelpers(text, entries) {
  const names = splitItems(IMPORT.exec(text)?.[1] ?? "");
  const missing = [...new Set(mask(entries).match(HELPER))].filter((name) => !names.includes(name));
  if (missing.length === 0) return text;
  const sorted = [...names, ...missing].sort((one, other) => (toKey(one) < toKey(other) ? -1 : 1));
  return text.replace(IMPORT, `import { ${sorted.join(", ")} } from "@react-router/dev/routes";`);
}

/**
 * Adds entries in front of the others, or of those inside `layoutFile`. Returns undefined if the list isn't written as
 * in the template or in React Router's own.
 * @param {string} text @param {string[]} entries @param {string} [layoutFile]
 */
export function addRoutes(text, entries, layoutFile) {
  const masked = mask(text);
  const lists = [...masked.matchAll(/^export default \[/gm)];
  const start = (lists[0]?.index ?? 0) + "export default ".length;
  const end = findEnd(masked, start);
  const isPlain = /^\s*(satisfies RouteConfig)?;?\s*$/.test(masked.slice(end + 1));
  if (lists.length !== 1 || end < 0 || !isPlain || !IMPORT.test(text)) return undefined;
  if (layoutFile === undefined) return importHelpers(insert(text, start, entries), entries.join());

  const call = `layout("${layoutFile}", [`;
  const isNew = !text.includes(`"${layoutFile}"`);
  const changed = isNew ? insert(text, start, [`${call}])`]) : text;
  const found = changed.indexOf(call);
  // Elsewhere, or with an id, the layout is the team's own.
  if (found < start || !mask(changed).startsWith("layout(", found)) return undefined;
  return importHelpers(insert(changed, found + call.length - 1, entries), [call, ...entries].join());
}
