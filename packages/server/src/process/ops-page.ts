import { createHash } from "node:crypto";

/** Text that may be a stranger's, such as a path. With `share`, from 0 to 1, browsers show a bar in its place. */
export type Cell = string | { text: string; isBad?: boolean; share?: number };
export type Column = { name: string; isNumber?: boolean /** Gets the rest of a line of text. */; isLong?: boolean };
export type Section = { heading: string; note?: string; isWide?: boolean; columns: Column[]; rows: Cell[][] };
export type Page = { title: string; state: string; isGood: boolean; sections: Section[] };

/** The characters in a line of text. */
const LINE_LENGTH = 80;
const GAP = "  ";
/** They could move a terminal's cursor, or reverse the order of what follows. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}]/gu;
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const STYLE = `
:root { color-scheme: light dark; --ink: #221a4c; --soft: #655e86; --line: #e2dcee; --paper: #fff; --page: #f8f5fb;
  --good: #1b6b45; --bad: #b3203c; --bar: #6d5bd0; --rest: #ebe6f4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eeeaff; --soft: #aaa3cc; --line: #332d5c; --paper: #1a1640; --page: #110e2c; --good: #7fd8a8;
    --bad: #ff9aa8; --bar: #9c8cff; --rest: #332d5c; }
}
* { box-sizing: border-box; margin: 0; }
body { max-width: 76rem; margin: auto; padding: 1.5rem 1rem 3rem; color: var(--ink); background: var(--page);
  font: 0.9375rem / 1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.3; letter-spacing: -0.01em; }
h2 { font-size: 1rem; }
header p { font-weight: 600; color: var(--bad); }
header p::before { content: "●\\2002" / ""; }
header .good { color: var(--good); }
.bad { color: var(--bad); font-weight: 600; }
.note, footer { color: var(--soft); font-size: 0.8125rem; }
a { color: inherit; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 29rem), 1fr)); gap: 1rem; margin: 1rem 0; }
section { min-width: 0; padding: 0.875rem 1rem; border: 1px solid var(--line); border-radius: 0.5rem;
  background: var(--paper); }
.wide { grid-column: 1 / -1; }
table { width: 100%; margin-top: 0.25rem; border-collapse: collapse; }
th, td { padding: 0.3rem 0 0.3rem 1rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top;
  font-weight: inherit; }
th:first-child, td:first-child { padding-left: 0; }
thead th { border: 0; color: var(--soft); font-size: 0.8125rem; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
.long { width: 99%; }
.short { white-space: nowrap; }
@media (min-width: 40rem) { .wide .number { padding-left: 2rem; } }
meter { display: block; appearance: none; width: 100%; min-width: 6rem; height: 0.5rem; margin-top: 0.5rem; border: 0;
  border-radius: 1rem; background: var(--rest); overflow: hidden; }
meter::-webkit-meter-bar { grid-row: 1 / -1; height: 100%; border: 0; border-radius: 1rem; background: var(--rest); }
meter::-webkit-meter-optimum-value { height: 100%; background: var(--bar); }
meter::-webkit-meter-suboptimum-value, meter::-webkit-meter-even-less-good-value { height: 100%; background: var(--bad); }
meter::-moz-meter-bar { background: var(--bar); }
meter:is(:-moz-meter-sub-optimum, :-moz-meter-sub-sub-optimum)::-moz-meter-bar { background: var(--bad); }
form { display: grid; max-width: 44rem; grid-template-columns: 5rem 1fr auto; gap: 0.25rem 0.75rem; align-items: center; margin-top: 0.5rem; }
form span { grid-column: 2; }
input, button { min-height: 2.25rem; padding: 0 0.75rem; border: 1px solid var(--soft); border-radius: 0.375rem; font: inherit;
  color: inherit; background: transparent; }
input { width: 100%; min-width: 0; }
input[type="checkbox"] { width: 1.25rem; min-height: 1.25rem; vertical-align: middle; }
button { cursor: pointer; }
@media (max-width: 40rem) {
  /* The longest cell of a row has a line of its own. */
  thead tr, thead ~ tbody tr { display: flex; flex-wrap: wrap; padding: 0.3rem 0; border-top: 1px solid var(--line); }
  thead tr { border: 0; }
  thead th, thead ~ tbody :is(th, td) { flex: 1 1 12%; min-width: 0; padding: 0; border: 0; }
  thead .number, thead ~ tbody .number { font-size: 0.75rem; line-height: 1.25rem; }
  thead .number { white-space: normal; overflow-wrap: normal; }
  thead .long, thead ~ tbody .long { flex: 0 0 100%; }
  thead .short, thead ~ tbody .short { flex: 2 1 24%; }
  thead .short + .number, thead ~ tbody .short + .number { padding-right: 30%; }
  meter { min-width: 0; }
  thead .number + .short, tbody .number + .short { padding-left: 0.75rem; }
}
:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
`;

/** The page has no scripts, and its form may only be sent to this port. */
export const PAGE_HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
    "img-src data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; "),
  // With `no-referrer`, browsers would send the form with `Origin: null`.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

const toField = (name: string, label: string, placeholder: string) =>
  `<form method="post" action="/cache/invalidate"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" placeholder="${placeholder}" autocomplete="off" autocapitalize="none" spellcheck="false" required>
<button aria-label="Purge the ${label.toLowerCase()}">Purge</button></form>`;

const FORMS = `<section class="wide" aria-labelledby="purge"><h2 id="purge">Purge the cache</h2>
<p class="note">In every process, if the channel is connected. Otherwise, in this one.</p>
${toField("path", "Path", "/posts/1")}
${toField("prefix", "Prefix", "/posts/")}
${toField("group", "Group", "post-1")}
<form method="post" action="/cache/invalidate"><span><label><input type="checkbox" name="all" required> All entries</label></span>
<button aria-label="Purge all entries">Purge</button></form></section>`;

const toCommands = (host: string) => `Purge the cache
  curl -X POST 'http://${clean(host)}/cache/invalidate?path=/posts/1'
  Or with ?prefix=/posts/, ?group=post-1 or ?all.
`;

const clean = (text: string) => text.replace(CONTROLS, "\uFFFD");
const escapeHtml = (text: string) => clean(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
const textOf = (cell: Cell | undefined) => clean(typeof cell === "object" ? cell.text : (cell ?? ""));

/** The page for browsers. */
export function renderHtml({ title, state, isGood, sections }: Page) {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`${title}: ${state}`)}</title><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><header><h1>${escapeHtml(title)}</h1><p${isGood ? ' class="good"' : ""}>${escapeHtml(state)}</p></header>
<main>
${sections.map(toHtmlSection).join("\n")}
${FORMS}
</main>
<footer><a href="/">Look again</a> · <a href="/cache">Cache by route</a> · <a href="/metrics">Metrics</a></footer></body></html>
`;
}

function toHtmlSection({ heading, note, isWide, columns, rows }: Section, index: number) {
  const toTag = (tag: string, column: Column | undefined, content: string, scope = "") => {
    const kind = column?.isNumber ? "number" : column?.isLong ? "long" : "short";
    return `<${tag}${scope} class="${kind}">${content}</${tag}>`;
  };
  const head = columns.map((column) => toTag("th", column, escapeHtml(column.name), ' scope="col"')).join("");
  const toCell = (cell: Cell, i: number, row: Cell[]) => {
    const content = toHtml(cell, textOf(row[0]));
    return i === 0 ? toTag("th", columns[i], content, ' scope="row"') : toTag("td", columns[i], content);
  };
  const body = rows.map((row) => `<tr>${row.map(toCell).join("")}</tr>`).join("\n");
  const table = `<table>
${columns.some(({ name }) => name) ? `<thead><tr>${head}</tr></thead>` : ""}<tbody>
${body}
</tbody></table>`;
  return `<section aria-labelledby="section-${index}"${isWide ? ' class="wide"' : ""}><h2 id="section-${index}">${escapeHtml(heading)}</h2>
${note ? `<p class="note">${escapeHtml(note)}</p>` : ""}
${rows.length > 0 ? table : "<p>None.</p>"}</section>`;
}

function toHtml(cell: Cell, name: string) {
  const text = escapeHtml(textOf(cell));
  if (typeof cell === "string") return text;
  if (cell.share === undefined) return cell.isBad ? `<span class="bad">${text}</span>` : text;
  // Browsers without bars show the text.
  const high = cell.isBad ? ' high="0" optimum="0"' : "";
  return `<meter value="${cell.share.toFixed(4)}"${high} aria-label="${escapeHtml(name)}">${text}</meter>`;
}

/** The same as text, for terminals. `host` is that of the request, with its port. */
export function renderText({ title, state, sections }: Page, host: string) {
  const parts = sections.map(({ heading, note, columns, rows }) => {
    const table = rows.length > 0 ? toLines(columns, rows) : ["None."];
    return [heading, ...(note ? wrap(note, LINE_LENGTH - GAP.length) : []).concat(table).map((line) => GAP + line)];
  });
  const head = wrap(clean(`${title}: ${state}`), LINE_LENGTH);
  return `${[head, ...parts].map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join("")).join("\n")}\n${toCommands(host)}`;
}

function toLines(columns: Column[], rows: Cell[][]) {
  const names = columns.map(({ name }) => name);
  const lines = (names.some(Boolean) ? [names, ...rows] : rows).map((row) => row.map(textOf));
  const longest = columns.map((_, i) => Math.max(...lines.map((row) => row[i]?.length ?? 0)));
  const others = columns.reduce((sum, { isLong }, i) => sum + GAP.length + (isLong ? 0 : (longest[i] ?? 0)), 0);
  const widths = columns.map(({ isLong }, i) =>
    isLong ? Math.max(10, Math.min(longest[i] ?? 0, LINE_LENGTH - others)) : (longest[i] ?? 0),
  );
  return lines.flatMap((row) => {
    const cells = row.map((text, i) => wrap(text, widths[i] ?? 0));
    return Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, line) =>
      cells
        .map((cell, i) => (cell[line] ?? "")[columns[i]?.isNumber ? "padStart" : "padEnd"](widths[i] ?? 0))
        .join(GAP),
    );
  });
}

/** Breaks a text at spaces, or else anywhere. */
function wrap(text: string, width: number) {
  return (
    text
      .match(new RegExp(`.{1,${Math.max(width, 1)}}(?=\\s|$)|\\S{1,${Math.max(width, 1)}}`, "gs"))
      ?.map((line) => line.trim()) ?? [""]
  );
}
