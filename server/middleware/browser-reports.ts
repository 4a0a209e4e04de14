import express, { type RequestHandler } from "express";
import createHttpError from "http-errors";
import type { Logger } from "pino";
import { limitRate } from "../limit-rate.ts";
import { toLogFields, toLogText } from "../log-fields.ts";
import { findRoute } from "../pages/build.ts";
import { DIRECTIVES } from "../response/content-security-policy.ts";

/** `csp-report` is what browsers without the Reporting API send. */
const CONTENT_TYPES = ["application/reports+json", "application/csp-report"];
const MAX_BYTES = 16 * 1024;
/** Reports of a request, and log lines per second. The metric counts all of them. */
const MAX_REPORTS = 10;
const MAX_STACK_LINES = 20;

/** Those of the Reporting API, and `error` for errors of the page's scripts (app/report-error.ts). */
const REPORT_TYPES = ["csp-violation", "crash", "deprecation", "intervention", "error", "other"] as const;

type Text = Record<string, unknown>;
type Options = { log: Logger; recordReport: (type: string, directive: string) => void };

/** Logs and counts what browsers report: blocked scripts, crashes, deprecated features and errors of the page's scripts. */
export function browserReports({ log, recordReport }: Options): RequestHandler[] {
  const logReport = limitRate(MAX_REPORTS, (fields: object) => log.warn(fields, "browser report"));
  return [
    express.json({ type: CONTENT_TYPES, limit: MAX_BYTES }),
    (req, res, next) => {
      if (req.body === undefined) return next(createHttpError(415));
      const userAgent = toLogText(req.headers["user-agent"]);
      for (const { type, url, body } of parseReports(req.body)) {
        const directive = DIRECTIVES.has(String(body.effectiveDirective)) ? String(body.effectiveDirective) : "";
        const known = REPORT_TYPES.find((name) => name === type) ?? "other";
        recordReport(known, directive);
        const path = URL.canParse(String(url)) ? new URL(String(url)).pathname : "";
        logReport({
          ...toLogFields(res.locals),
          "browser.report.type": known,
          "url.path": toLogText(path),
          "http.route": findRoute(path)?.route.pattern,
          "csp.directive": directive || undefined,
          "csp.blocked": toText(body.blockedURL),
          "code.file.path": toText(body.sourceFile),
          "code.line.number": Number(body.lineNumber) || undefined,
          "exception.type": toText(body.name),
          "exception.message": toText(body.message),
          "exception.stacktrace": toText(body.stack, MAX_STACK_LINES),
          "browser.release": toText(body.release),
          "user_agent.original": userAgent,
        });
      }
      res.status(204).end();
    },
  ];
}

/** The reports in the shape of the Reporting API. Nothing is known of their values. */
function parseReports(json: Text | (Text | null)[]) {
  const reports = Array.isArray(json) ? json : [fromCspReport(json)];
  return reports.slice(0, MAX_REPORTS).map((report) => {
    const body: Text = { ...(report?.body as Text) };
    return { type: report?.type, url: report?.url, body };
  });
}

/** CSP Level 2 names the same fields differently. */
function fromCspReport({ "csp-report": report }: Text): Text {
  const fields = { ...(report as Text) };
  const body = {
    effectiveDirective: fields["effective-directive"] ?? fields["violated-directive"],
    blockedURL: fields["blocked-uri"],
    sourceFile: fields["source-file"],
    lineNumber: fields["line-number"],
  };
  return { type: "csp-violation", url: fields["document-uri"], body };
}

/** Without the queries of URLs, which may be private. */
function toText(value: unknown, maxLines = 1) {
  if (typeof value !== "string") return undefined;
  const lines = value.replaceAll(/(https?:[^\s?#]+)[?#][^\s):]*/g, "$1").split("\n");
  return lines.slice(0, maxLines).map(toLogText).join("\n");
}
