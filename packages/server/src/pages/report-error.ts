import { BASENAME } from "./environment.ts";
import { REPORTS_PATH } from "./reports-path.ts";

const REPORTS_URL = `${BASENAME}/${REPORTS_PATH}`;
/** For each page load. */
const MAX_REPORTS = 10;
const MAX_STACK_LENGTH = 4000;

let count = 0;
const reported = new WeakSet<Error>();

/** Sends an error of the page's scripts to the server, once, in the format of the Reporting API. */
export function sendErrorReport(error: unknown) {
  if (!(error instanceof Error) || reported.has(error) || count >= MAX_REPORTS) return;
  reported.add(error);
  count += 1;
  const { name, message, stack } = error;
  const release = window.__reactRouterManifest?.version;
  const body = { name, message, stack: stack?.slice(0, MAX_STACK_LENGTH), release };
  const report = { type: "error", url: location.href, body };
  navigator.sendBeacon(REPORTS_URL, new Blob([JSON.stringify([report])], { type: "application/reports+json" }));
}
