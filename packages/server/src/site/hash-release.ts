import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";

/** The settings of the server that change pages, beside the site's own. */
const PAGE_SETTINGS = ["ORIGIN", "STRICT_TRANSPORT_SECURITY"];

type Options = {
  site: { version: string; revision: string; definition: { settings?: object } };
  settings: object;
  /** The build's files for the browser. Undefined in development, where nothing is cached. */
  clientFolder: string | undefined;
};

/** Hashes what cached pages depend on: the build and the settings. Node's version changes texts of Intl. */
export function hashRelease({ site, settings, clientFolder }: Options) {
  const { version, revision, definition } = site;
  const names = new Set([...PAGE_SETTINGS, ...Object.keys(definition.settings ?? {})]);
  const used = Object.entries(settings).filter(([name]) => names.has(name));
  // It imports the other files by their hashed names.
  const code = clientFolder === undefined ? "" : readFileSync(join(clientFolder, "../server/index.js"));
  const values = inspect([version, revision, process.version, used], { depth: null, maxStringLength: null });
  return createHash("sha256").update(values).update(code).digest("base64url").slice(0, 16);
}
