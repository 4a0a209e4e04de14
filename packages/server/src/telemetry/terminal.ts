import { inspect, styleText } from "node:util";

/** They have long values that people don't read in a terminal, or the same value in each line. */
const HIDDEN = [
  "http.request.id",
  "trace_id",
  "user_agent.original",
  "settings",
  "limits",
  "service.version",
  "vcs.ref.head.revision",
  "host.name",
  "process.pid",
];
const COLORS = { fatal: "red", error: "red", warn: "yellow" } as const;
/** A terminal would follow them, and clients send some of the texts. */
const CONTROL_CHARACTERS = /[^\P{Cc}\n\t]/gu;

/** Makes a text for people of a JSON line: the time, the level, the message and the fields, and a stack below. */
export function toText(line: string) {
  const { time, level, msg = "", "exception.stacktrace": stack, ...fields } = JSON.parse(line);
  const shown = Object.entries(fields)
    .filter(([key]) => !HIDDEN.includes(key) && !(stack && key.startsWith("exception.")))
    .map(([key, value]) => ` ${key.split(".").at(-1)}=${toValue(value)}`);
  const clock = paint("dim", new Date(time).toTimeString().slice(0, 8));
  const first = `${clock} ${paint(COLORS[level as keyof typeof COLORS] ?? "cyan", String(level).padEnd(5))} ${clean(msg)}`;
  return `${first}${paint("dim", shown.join(""))}\n${stack ? `${clean(stack)}\n` : ""}`;
}

function toValue(value: unknown) {
  if (typeof value === "string" && /^[\w/.:@%+-]+$/.test(value)) return value;
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY });
}

const clean = (text: unknown) => String(text).replace(CONTROL_CHARACTERS, "");

/** Follows NO_COLOR. A stream that isn't a terminal has no such function. */
function paint(format: "dim" | "red" | "yellow" | "cyan", text: string) {
  return process.stdout.hasColors?.() && text ? styleText(format, text) : text;
}
