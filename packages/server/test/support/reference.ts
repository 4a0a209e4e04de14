// Makes docs/reference.md from the code: the settings' schemas, the metrics of a running server, and the log calls.
import { collectDefaultMetrics, Registry } from "prom-client";
import * as v from "valibot";
import { createLimits } from "../../src/overload/index.ts";
import { ServerSettingsSchema } from "../../src/settings/server-settings.ts";
import { findLines, type Line } from "./log-lines.ts";

const MIB = 1024 * 1024;
const WHOLE_NUMBER = "a whole number from ";
/** The text of a longer message ends at its colon. */
const MAX_MESSAGE_LENGTH = 50;

/** The labels whose values aren't in the help of their metric. */
const LABELS: Record<string, string> = {
  directive: "the directive of the policy, such as `script-src-elem`; empty for other reports",
  error_type: "`aborted` if the connection closed before the end of the response",
  http_request_method: "the method; `_OTHER` for an unknown one",
  http_response_status_code: "the status; empty if no response was sent",
  http_route: "as in the log; empty for a malformed request; `_OTHER` beyond 100 patterns of the site's own routers",
  part: "`loader`, `action` or `render`",
  result: "`hit`, `stale` or `miss`",
  revision: "the commit; `unknown` without `REVISION` at build time",
  setting: "the name of the limit's setting",
  type: "`csp-violation`, `crash`, `deprecation`, `intervention`, `error` (of a page's script) or `other`",
  version: "the version in the site's `package.json`",
};

const FIELDS = [
  ["Field", "Value"],
  ["`service.version`, `vcs.ref.head.revision`", "the release and its commit, in each line"],
  ["`host.name`, `process.pid`", "the pod, container or machine, and the process, in each line"],
  [
    "`http.request.id`",
    "the client's `X-Request-Id`, or a new id. Private responses and errors send it in that header",
  ],
  ["`trace_id`", "the trace of the client's `traceparent`"],
  ["`http.route`", "the route's pattern, such as `/posts/:id`; `file` for `public/` and `/assets/`"],
  ["`url.path`", "as sent, without the query; at most 256 characters, as `user_agent.original`"],
  ["`http.response.status_code`", "missing if no response was sent"],
  ["`http.server.request.duration`", "seconds from the request's head to the end of the response"],
  ["`client.address`", "the client's address, as the proxies of `TRUST_PROXY` send it"],
  ["`error.type`", "`aborted`, or the parser's error code"],
  ["`exception.stacktrace`", "the stack, with causes and properties"],
  ["`browser.release`", "the release of the page's code"],
  ["`csp.directive`, `csp.blocked`", "what the policy blocked. Browsers report that over HTTPS only"],
  ["`file`, `reason`", "of a cache warning: the route's file, and why its response isn't cached"],
];

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

Run \`npm run reference\` in the engine's folder to make this page from the code. [Operating](operating.md) says what to
do.

## Settings

Settings are environment variables. The server checks them at startup, prints a line for each wrong one, and exits with
code 1. A file \`.env\` in the working directory sets those that the environment doesn't. \`NAME_FILE\` is the path of a
file with the value of \`NAME\`, such as a secret. A site may add settings of its own.

Durations (\`_MS\`) are in milliseconds, sizes (\`_BYTES\`) in bytes. A default at 128 MiB follows from the
[memory limit](operating.md#memory). The first log line has the values in force. A line \`settings warning\` names a
misspelt setting. In production means with \`NODE_ENV=production\` in the environment, as in the image: otherwise, such as
for \`npm start\`, the server has no operators' port unless \`OPS_PORT\` is set.

${settings}

### Texts

${texts}

## Metrics

\`/metrics\` on \`OPS_PORT\` has the metrics below and prom-client's [default metrics][defaults] (\`process_…\`,
\`nodejs_…\`), except those of active handles and requests: \`nodejs_active_resources\` has both. The request's
\`Host\` must be an IP address, \`OPS_HOST\`, or a name that isn't public: one without a dot, or below \`.local\` or
\`.internal\`.

Each route adds at most 14 KB: 24 series (4 KB) for each of its methods and statuses, and 20 (2 KB) for its loaders, its
actions and its renders. To store fewer, drop buckets in the scraper's \`metric_relabel_configs\`, but not \`le="1"\`,
which the alerts need.

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
