// Makes the plots and the tables of the documents from the measured figures: those of docs/comparison.md, which bench.ts
// writes, and those of docs/plots/, which scaling.ts and warm-start.ts write.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bar, drawBars } from "./chart.ts";
import type { Simulated } from "./scaling.ts";
import type { WarmStart } from "./warm-start.ts";

export const DOCS = join(import.meta.dirname, "../docs");
const SCALING = "speed-and-scaling.md";

type Measured<Row> = { date: string; node: string; machine: string; rows: Row[] };
const read = (file: string) => readFileSync(join(DOCS, file), "utf8");
const scaling: Measured<Simulated> = JSON.parse(read("plots/scaling.json"));
const warmStart: Measured<WarmStart> = JSON.parse(read("plots/warm-start.json"));
const format = (value: number, digits = 0) => Number(value.toFixed(digits)).toLocaleString("en");

const describe = (bars: Bar[]) => bars.map(({ label, text }) => `${label}: ${text}`).join(", ");

/** Plots a row of the comparison. */
function compare(title: string, row: string, unit: string) {
  const rows = Array.from(read("comparison.md").matchAll(/^\| (.*) \|$/gm), ([, cells = ""]) =>
    cells.split("|").map((cell) => cell.trim().replace(/ \([\d.]+×\)$|`/g, "")),
  );
  const names = rows[0]?.slice(1) ?? [];
  const values = rows.find(([label]) => label === row.replaceAll("`", ""))?.slice(1);
  if (!values) throw new Error(`docs/comparison.md has no row "${row}"`);
  const bars = values.map((text, index) => ({
    label: names[index] ?? "",
    value: Number(text.replaceAll(",", "")),
    text: /^[\d.,]+$/.test(text) ? `${text} ${unit}` : text,
    isMuted: index > 0,
  }));
  return drawBars({ title, description: describe(bars), groups: [{ bars }] });
}

const counts = [...new Set(scaling.rows.map(({ processes }) => processes))];
const toLabel = (processes: number) => `${processes} ${processes === 1 ? "process" : "processes"}`;

function drawRenders() {
  const toBar = ({ sharesPages, rendersOfPage }: Simulated): Bar => ({
    label: sharesPages ? "pages shared in Redis" : "pages of each process",
    value: rendersOfPage,
    text: format(rendersOfPage, 1),
    isMuted: !sharesPages,
  });
  const groups = counts.map((count) => ({
    name: toLabel(count),
    bars: scaling.rows.filter(({ processes }) => processes === count).map(toBar),
  }));
  const description = groups.map(({ name, bars }) => `${name}: ${describe(bars)}`).join("; ");
  return drawBars({ title: "Renders per minute of one page", description, groups });
}

/** The table of the simulation. */
function makeScalingTable() {
  const toRow = (label: string, sharesPages: boolean, toCell: (row: Simulated) => string) => [
    label,
    ...scaling.rows.filter((row) => row.sharesPages === sharesPages).map(toCell),
  ];
  const [one] = scaling.rows as [Simulated];
  const times = (value: number) => `${Number(value.toPrecision(2))}×`;
  const rows = [
    ["", ...counts.map(toLabel)],
    toRow("requests per second of the CDN", true, (row) => format(row.requestsPerSecond)),
    toRow("renders per minute of one page, in Redis", true, (row) => format(row.rendersOfPage, 1)),
    toRow("the same, in each process", false, (row) => format(row.rendersOfPage, 1)),
    toRow("renders per edit, pages in Redis", true, (row) => format(row.rendersPerEdit, 1)),
    toRow("the same, in each process", false, (row) => format(row.rendersPerEdit, 1)),
    toRow("purges per second, for 10 edits per second", true, (row) => format(row.purgesPerSecond, 1)),
    toRow("MiB of a process, of 128 MiB", true, (row) => format(row.processMiB)),
    toRow("MiB of all processes", true, (row) => format(row.processesMiB)),
    toRow("MiB of Redis", true, (row) => format(row.redisMiB)),
    toRow("% of a core, each process", true, (row) => format(row.processCpuPercent, 1)),
    toRow("% of a core, Redis", true, (row) => format(row.redisCpuPercent, 1)),
    toRow("cold start of all at once, on 2 cores", true, (row) => times(row.startMs / one.startMs)),
    toRow("CPU time of a process's start, beside one", true, (row) => times(row.startCpuSeconds / one.startCpuSeconds)),
  ];
  return makeTable(rows, scaling);
}

/** The table of a restart with pages in Redis. */
function makeWarmStartTable() {
  const rows = warmStart.rows.map(({ label, cpu, renders }) => [label, `${format(cpu)} s`, format(renders)]);
  return makeTable([["20,000 requests", "CPU time", "rendered"], ...rows], warmStart);
}

/** A table, aligned as Biome does, and where it was measured. */
function makeTable(rows: string[][], { date, node, machine }: Measured<unknown>) {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(4, ...rows.map((cells) => cells[index]?.length ?? 0)));
  const toLine = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const [head, ...lines] = rows.map((cells) =>
    toLine(cells.map((cell, index) => cell[index === 0 ? "padEnd" : "padStart"](widths[index] ?? 0))),
  );
  const rule = toLine(widths.map((width, index) => (index === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)));
  return `${[head, rule, ...lines].join("\n")}\n\nMeasured on ${date}: Node ${node}, ${machine}.`;
}

const SCALING_TABLE = /^\|[^\n]*\| +1 process +\|[^\n]*\n(\|.*\n)+\nMeasured on .*$/m;
const WARM_START_TABLE = /^\|[^\n]*\| CPU time \|[^\n]*\n(\|.*\n)+\nMeasured on .*$/m;
const STORE_ERRORS = /(?<=Redis answered too late\s)\d+/;

/** Returns the files by their path in docs/. */
export function makeFigures() {
  const document = read(SCALING);
  for (const part of [SCALING_TABLE, WARM_START_TABLE, STORE_ERRORS]) {
    if (!part.test(document)) throw new Error(`docs/${SCALING} lacks ${part}`);
  }
  const { storeErrors = 0 } = scaling.rows.findLast(({ sharesPages }) => sharesPages) ?? {};
  return {
    "plots/cpu-per-request.svg": compare("CPU time per request", "CPU µs per request on `/`", "µs"),
    "plots/first-paint.svg": compare("First paint on a slow link", "first paint on a slow link, ms", "ms"),
    "plots/memory.svg": compare("Memory after a load, of 128 MiB", "MiB after a load on `/`, of 128 MiB", "MiB"),
    "plots/slow-clients.svg": compare(
      "Clients that read nothing, survived",
      "survived of 1,024 clients that read nothing, with 128 MiB",
      "of 1,024",
    ),
    "plots/renders.svg": drawRenders(),
    [SCALING]: document
      .replace(SCALING_TABLE, makeScalingTable())
      .replace(WARM_START_TABLE, makeWarmStartTable())
      .replace(STORE_ERRORS, String(storeErrors)),
  };
}
