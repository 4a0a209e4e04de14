import { BASENAME } from "./environment.ts";
import { REPORTS_PATH } from "./reports-path.ts";

const REPORTS_URL = `${BASENAME}/${REPORTS_PATH}`;

/** Sends a report to the server in the format of the Reporting API, also while the page closes. */
export function sendReport(type: string, body: object, url = location.href) {
  const json = JSON.stringify([{ type, url, body }]);
  navigator.sendBeacon(REPORTS_URL, new Blob([json], { type: "application/reports+json" }));
}
