// Makes docs/reference.md from the code: the settings' schemas, the metrics of a running server, and the log calls.
import { collectDefaultMetrics, Registry } from "prom-client";
import * as v from "valibot";
import { createLimits } from "../../src/overload/index.ts";
import { EDGES, OTHERS, STATUSES } from "../../src/process/ops-cache.ts";
import { ServerSettingsSchema } from "../../src/settings/server-settings.ts";
import { findLines, type Line } from "./log-lines.ts";
import { FIELDS, LABELS, OPERATORS_PATHS, PURGES } from "./reference-tables.ts";

const MIB = 1024 * 1024;
const WHOLE_NUMBER = "a whole number from ";
/** The text of a longer message ends at its colon. */
const MAX_MESSAGE_LENGTH = 50;

/** Defaults that aren't in the schema. */
const DEFAULTS: Record<string, string> = { OPS_PORT: "`3001` in production" };

/** Padded as Biome formats it. */
function toTable([head = [], ...rows]: string[][]) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = widths.map((width) => "-".repeat(width));
  const toLine = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [head, line, ...rows].map(toLine).join("\n");
}

const code = (text: string) => `\`${text}\``;

function listSettings() {
  const limits: Record<string, number> = createLimits({}, 128 * MIB, Number.POSITIVE_INFINITY);
  const settings = Object.entries(ServerSettingsSchema.entries).map(([name, schema]) => {
    const given = "default" in schema ? schema.default : undefined;
    // The fault names the allowed values.
    const allowed = v.safeParse(schema as v.GenericSchema, "\0").issues?.[0].message ?? "";
    const meaning = v.getDescription(schema);
    if (!meaning) throw new Error(`${name} has no description`);
    return { name: code(name), value: given || limits[name], isLimit: name in limits, allowed, meaning };
  });
  const rows = settings.map(({ name, value, isLimit, allowed, meaning }) => [
    name,
    DEFAULTS[name.replaceAll("`", "")] ?? (value ? `${code(String(value))}${isLimit ? " at 128 MiB" : ""}` : ""),
    allowed.startsWith(WHOLE_NUMBER) ? allowed.slice(WHOLE_NUMBER.length) : "[a text](#texts)",
    meaning,
  ]);
  const texts = settings.filter(({ allowed }) => !allowed.startsWith(WHOLE_NUMBER));
  return {
    settings: toTable([["Setting", "Default", "Allowed", "Meaning"], ...rows]),
    texts: toTable([["Setting", "Allowed"], ...texts.map(({ name, allowed }) => [name, allowed])]),
  };
}

/** `text` is the server's response to /metrics. */
function listMetrics(text: string) {
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults });
  const isDefault = new Set(defaults.getMetricsAsArray().map(({ name }) => name));
  const labels = new Set<string>();
  const metrics = [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)]
    .filter(([, name = ""]) => !isDefault.has(name))
    .sort(([, a = ""], [, b = ""]) => (a < b ? -1 : 1));
  const rows = metrics.flatMap(([, name = "", help = "", type = ""]) => {
    const series = [...text.matchAll(new RegExp(`^${name}(?:_bucket|_count|_sum)?(?:{(.*)})? `, "gm"))];
    // Without a channel, page_cache_channel_connected has no value. It has no label.
    if (series.length === 0 && name !== "page_cache_channel_connected")
      throw new Error(`${name} has no series, so its labels are unknown`);
    const names = [...(series[0]?.[1]?.matchAll(/(\w+)="/g) ?? [])].map(([, label = ""]) => label);
    const own = [...new Set(names.filter((label) => label !== "le"))];
    const [, about, label, values] = /^(.*?\.) (\w+): (.*)\.$/.exec(help) ?? [];
    const row = [code(name), type, about ?? help];
    if (values) {
      const meanings = [...values.matchAll(/([\w-]+) \((.*?)\)(?:, |$)/g)];
      return [
        row,
        ...meanings.map(([, value, meaning = ""]) => [code(`${label}="${value}"`), "", toMarkdown(meaning)]),
      ];
    }
    for (const label of own) labels.add(label);
    return own.length === 0 ? [row] : [row, ["", "", `Labels: ${own.map(code).join(", ")}`]];
  });
  const meanings = [...labels].sort().map((label) => {
    if (!LABELS[label]) throw new Error(`the label ${label} has no meaning in LABELS`);
    return [code(label), LABELS[label]];
  });
  return {
    metrics: toTable([["Metric", "Type", "Meaning"], ...rows]),
    labels: toTable([["Label", "Value"], ...meanings]),
  };
}

const toMarkdown = (text: string) => text.replace(/\b[A-Z]+_[A-Z_]+\b/g, "`$&`");

const listAnswers = () =>
  toTable([
    ["Status", "`others`", "Meaning"],
    ...Object.entries(STATUSES).map(([others, status]) => [
      String(status),
      code(others),
      OTHERS[others as keyof typeof OTHERS],
    ]),
  ]);

function listLines() {
  const lines = findLines();
  const messages = [...new Set(lines.map(({ message }) => message))].sort();
  const rows = messages.map((message) => {
    const same = lines.filter((line) => line.message === message);
    const join = (key: keyof Line) => [...new Set(same.map((line) => line[key]))].join(", ");
    const shown = message.length > MAX_MESSAGE_LENGTH ? message.replace(/: .*/s, ": …") : message;
    return [code(shown), join("level"), join("limit"), join("part")];
  });
  return toTable([["Message", "Level", "Most per second", "Part"], ...rows]);
}

/** The page. `metrics` is the server's response to /metrics, after a page was rendered. */
export function makeReference(metrics: string) {
  const { settings, texts } = listSettings();
  const { metrics: metricsTable, labels } = listMetrics(metrics);
  return `# Reference

\`npm run reference\`, in the engine's folder, makes this page from the code. [Operating](operating.md) says what to do.

## Settings

Settings are environment variables. The server checks them at startup, prints a line for each wrong one, and exits with
code 1. A file \`.env\` in the working directory sets those that the environment doesn't. \`NAME_FILE\` is the path of a
file with the value of \`NAME\`, such as a secret. A site may add settings of its own.

Durations (\`_MS\`) are in milliseconds, sizes (\`_BYTES\`) in bytes. A default at 128 MiB follows from the
[memory limit](speed-and-scaling.md#memory). The first log line has the values in force. A line \`settings warning\` names
a misspelt setting. \`OPS_PORT\` has its default only with \`NODE_ENV=production\` in the environment, as in the image.

${settings}

### Texts

${texts}

## Operators' port

\`OPS_PORT\` has no authentication: keep the port in your network.

${toTable(OPERATORS_PATHS)}

- The answer of \`/readyz\` names the reason, and a service that fails. A process that is blocked, or has no free file
  descriptors, doesn't answer.
- In URLs of \`/\` and \`/cache\`, the host must be an IP address, \`localhost\` or \`OPS_HOST\`.
- With \`OPS_PORT=0\`, the image's health check requests \`/\` at \`PORT\`.

### Purge

${toTable(PURGES)}

The answer has the \`keys\` of the entries that this process has removed. If a [channel](caching.md#include-every-process)
is connected, the other processes purge as well:

${listAnswers()}

\`confirmed\` has the names of the processes that have purged, with this one first, and \`unconfirmed\` those of processes
that were heard from within the last hour, but didn't answer within 2 s. A name is the \`host.name\` and \`process.pid\` of
log lines. If a process ends while messages wait, it logs \`cache invalidations lost\`: purge the other processes.

If the site [purges a cache in front](caching.md#include-caches-in-front), the answer has \`edge\`:

${toTable([["`edge`", "Meaning"], ...Object.entries(EDGES).map(([edge, meaning]) => [code(edge), meaning])])}

## Metrics

\`/metrics\` on \`OPS_PORT\` has the metrics below and prom-client's [default metrics][defaults] (\`process_…\`,
\`nodejs_…\`), except those of active handles and requests: \`nodejs_active_resources\` has both. The request's
\`Host\` must be an IP address, \`OPS_HOST\`, or a name that isn't public: one without a dot, or below \`.local\` or
\`.internal\`.

With gzip, which Prometheus accepts, the metrics of 20 routes take less than 100 KB. Without, each route adds at most
18 KB: 24 series (4 KB) for each of its methods and statuses, 20 (2 KB) for its loaders, its actions and its renders,
and, from its first visit on, 52 (4 KB) for [web vitals](speed-and-scaling.md#web-vitals). To store fewer, drop buckets
in the scraper's \`metric_relabel_configs\`, but not \`le="1"\`, nor \`le="0.5"\` and \`le="4"\` of web vitals, which the alerts
need.

[defaults]: https://github.com/siimon/prom-client#default-metrics

${metricsTable}

### Labels

${labels}

## Log

The log is JSON lines on standard output. If that is a terminal, the log is text, without ids.

Clients could fill the log with some lines, so these have a limit. Metrics count all of them.

${listLines()}

### Fields

Fields have the names of [OpenTelemetry's conventions][fields]:

${toTable(FIELDS)}

[fields]: https://opentelemetry.io/docs/specs/semconv/registry/attributes/
`;
}
