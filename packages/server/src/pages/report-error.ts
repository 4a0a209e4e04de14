import { sendReport } from "./send-report.ts";

/** For each page load. */
const MAX_REPORTS = 10;
const MAX_STACK_LENGTH = 4000;

let count = 0;
const reported = new WeakSet<Error>();

/** Sends an error of the page's scripts to the server, once. */
export function sendErrorReport(error: unknown) {
  if (!(error instanceof Error) || reported.has(error) || count >= MAX_REPORTS) return;
  reported.add(error);
  count += 1;
  const { name, message, stack } = error;
  const release = window.__reactRouterManifest?.version;
  sendReport("error", { name, message, stack: stack?.slice(0, MAX_STACK_LENGTH), release });
}
