import { readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { isSourceUrl } from "../http/policy-source.ts";
import { findMeant } from "./misspelling.ts";
import { ServerSettingsSchema } from "./server-settings.ts";

const sourceUrl = v.check(
  (value: unknown) => value === undefined || isSourceUrl(String(value)),
  "a URL, like https://cdn.example.org",
);

/** The part of a site's definition that concerns settings. */
type OwnSettings = { settings?: v.ObjectEntries; policySources?: object };

/** The settings of the server and a site's own. */
export function createSettingsSchema({ settings: own = {}, policySources = {} }: OwnSettings) {
  const urls = Object.entries(own).filter(([name]) => name in policySources);
  const checked = urls.map(([name, schema]) => [name, v.pipe(schema, sourceUrl)]);
  const schema: unknown = v.object({ ...ServerSettingsSchema.entries, ...own, ...Object.fromEntries(checked) });
  return schema as typeof ServerSettingsSchema;
}

/** Faults that the operator can repair, a line for each. It has no stack. */
export class SettingsError extends Error {
  override stack = "";
  readonly faults: string[];

  constructor(faults: string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** The values by name, from the environment or from files, before they are parsed. */
type Given = Record<string, string | undefined>;

/** The values of such settings are in no fault: a fault is logged. */
const SECRET = /SECRET|KEY|TOKEN|PASSWORD|URL/i;
const BYTE_ORDER_MARK = /^\uFEFF/;

/** Adds the variables of the file `.env` in the working directory, unless they are set already. */
export function loadEnvFile() {
  try {
    const values = parseEnv(readText(".env").replace(BYTE_ORDER_MARK, ""));
    for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new SettingsError([`.env can't be read: ${message}`]);
  }
}

/** A pipe or a device could keep the start waiting. */
function readText(file: string) {
  if (!statSync(file).isFile()) throw new Error("it isn't a file");
  return readFileSync(file, "utf8");
}

/**
 * Reads the settings. An empty variable counts as not set. If `NAME` isn't set and `NAME_FILE` is, the value is the
 * content of that file, as with the secrets of Docker and Kubernetes. Each fault is a line with the variable's name,
 * its value unless it may be a secret, and the allowed values. Each warning is a line about a variable whose name is
 * nearly that of a setting. Throws a SettingsError.
 */
export function parseSettings<Entries extends v.ObjectEntries>(
  schema: v.ObjectSchema<Entries, undefined>,
  env: NodeJS.ProcessEnv,
): { settings: v.InferOutput<typeof schema>; given: Given; warnings: string[] } {
  const given: Given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const names = Object.keys(schema.entries);
  const faults: string[] = [];
  for (const name of names) {
    const file = given[`${name}_FILE`];
    if (given[name] !== undefined || file === undefined) continue;
    try {
      given[name] = readText(file).trimEnd();
    } catch (error) {
      faults.push(`${name}_FILE=${JSON.stringify(file)} can't be read: ${(error as Error).message}`);
    }
  }
  if (faults.length > 0) throw new SettingsError(faults);
  const result = v.safeParse(schema, given, { abortPipeEarly: true });
  if (result.success) return { settings: result.output, given, warnings: findMisspelt(Object.keys(given), names) };
  throw new SettingsError(
    result.issues.map(({ path, message, received }) => {
      const name = String(path?.[0].key);
      if (given[name] === undefined) return `${name} is not set, and has no default`;
      // Valibot's own messages quote the value.
      if (SECRET.test(name)) return `${name} is not valid: it must be ${message.replace(received, "another value")}`;
      return `${name}=${JSON.stringify(given[name])} is not valid: it must be ${message}`;
    }),
  );
}

/** The server's own settings as they are given, or else their defaults. None of them is a secret. */
export function describeSettings(given: Given) {
  return Object.fromEntries(
    Object.entries(ServerSettingsSchema.entries).map(([name, { default: value }]) => [name, given[name] ?? value]),
  );
}

function findMisspelt(given: string[], names: string[]) {
  return given.flatMap((name) => {
    const meant = names.includes(name.replace(/_FILE$/, "")) ? undefined : findMeant(name, names);
    return meant ? [`${name} is not a setting. Is ${meant} meant?`] : [];
  });
}
