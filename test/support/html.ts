import { spawnSync } from "node:child_process";

type Report = { messages: { ruleId: string; message: string }[] };

/** The faults of a document, by html-validate's rules for HTML and accessibility. */
export function findHtmlFaults(html: string) {
  const args = ["tools/run.js", "html-validate", "--stdin", "--preset=standard,a11y", "--formatter=json"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { input: html, encoding: "utf8" });
  if (stderr) throw new Error(stderr);
  const reports: Report[] = JSON.parse(stdout);
  return reports.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`));
}
