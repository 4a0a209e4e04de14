import express, { type RequestHandler } from "express";
import createHttpError from "http-errors";
import type { Logger } from "pino";
import { Counter, type Registry } from "prom-client";
import * as v from "valibot";
import { parseRequestTarget } from "../../http/request-target.ts";
import { DIRECTIVES } from "../../site/content-security-policy.ts";
import type { Pages } from "../../site/pages.ts";
import { limitRate } from "../../telemetry/limit-rate.ts";
import { toLogText, withoutPrivateParts } from "../../telemetry/log-text.ts";
import { toLogFields } from "../../telemetry/request-log-fields.ts";
import { measureWebVitals } from "./web-vitals.ts";

/** `csp-report` is what browsers without the Reporting API send. */
const CONTENT_TYPES = ["application/reports+json", "application/csp-report"];
const MAX_BYTES = 16 * 1024;
/** The most reports of a request. Also the most log lines per second; the metric counts all reports. */
const MAX_REPORTS = 10;
const MAX_STACK_LINES = 20;

/** Those of the Reporting API, and `error` for errors of the page's scripts (report-error.ts). */
const REPORT_TYPES = ["csp-violation", "crash", "deprecation", "intervention", "error", "other"] as const;

/** Counts in metrics of its own, and isn't logged (pages/web-vitals.ts). */
const WEB_VITALS = "web-vitals";

const text = v.fallback(v.optional(v.string()), undefined);
const number = v.fallback(v.optional(v.number()), undefined);
/** The fields of a report that are logged. A value of another type counts as missing. */
const ReportSchema = v.object({
  type: text,
  url: text,
  body: v.fallback(
    v.object({
      effectiveDirective: text,
      blockedURL: text,
      sourceFile: text,
      lineNumber: number,
      name: text,
      message: text,
      stack: text,
      release: text,
    }),
    {},
  ),
});

/** Logs and counts the reports of browsers: blocked scripts, crashes, deprecated features and errors of scripts. Measures web vitals. */
export function browserReports(
  log: Logger,
  registry: Registry,
  { findRoute }: Pages,
  webVitalsShare: number,
): RequestHandler[] {
  const recordWebVitals = measureWebVitals(registry, webVitalsShare);
  const counter = new Counter({
    name: "browser_reports_total",
    help: "Reports of browsers, by type, and for violations of the Content-Security-Policy by directive.",
    labelNames: ["type", "directive"],
    registers: [registry],
  });
  const recordReport = (type: string, directive: string, count = 1) => counter.inc({ type, directive }, count);
  // Series start at 0: otherwise `increase()` would miss their first reports.
  for (const type of REPORT_TYPES) recordReport(type, "", 0);
  for (const directive of DIRECTIVES) recordReport("csp-violation", directive, 0);
  const logReport = limitRate(MAX_REPORTS, (fields: object) => log.warn(fields, "browser report"));
  return [
    express.json({ type: CONTENT_TYPES, limit: MAX_BYTES, inflate: false }), // Browsers compress no reports.
    (req, res, next) => {
      if (req.body === undefined) return next(createHttpError(415));
      const userAgent = toLogText(req.headers["user-agent"]);
      for (const report of toReports(req.body).slice(0, MAX_REPORTS)) {
        const { success, output } = v.safeParse(ReportSchema, report);
        if (!success) continue;
        const path = parseRequestTarget(output.url?.replace(/#.*/s, "") ?? "")?.path;
        const route = path && findRoute(path)?.route.pattern;
        if (output.type === WEB_VITALS) {
          recordWebVitals(route, (report as { body?: unknown }).body);
          continue;
        }
        const { effectiveDirective = "", ...body } = output.body;
        const type = REPORT_TYPES.find((name) => name === output.type) ?? "other";
        const directive = DIRECTIVES.has(effectiveDirective) ? effectiveDirective : "";
        recordReport(type, directive);
        logReport({
          ...toLogFields(res),
          "browser.report.type": type,
          "url.path": toLogText(path),
          "http.route": route,
          "csp.directive": directive || undefined,
          "csp.blocked": toText(body.blockedURL),
          "code.file.path": toText(body.sourceFile),
          "code.line.number": body.lineNumber,
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

/** The reports in the shape of the Reporting API. CSP Level 2 sends one report, with other field names. */
function toReports(json: Record<string, Record<string, unknown>> | unknown[]): unknown[] {
  if (Array.isArray(json)) return json;
  const report = json["csp-report"];
  const body = {
    effectiveDirective: report?.["effective-directive"] ?? report?.["violated-directive"],
    blockedURL: report?.["blocked-uri"],
    sourceFile: report?.["source-file"],
    lineNumber: report?.["line-number"],
  };
  return [{ type: "csp-violation", url: report?.["document-uri"], body }];
}

function toText(value: string | undefined, maxLines = 1) {
  if (value === undefined) return undefined;
  const lines = withoutPrivateParts(value, maxLines > 1).split("\n");
  return lines.slice(0, maxLines).map(toLogText).join("\n");
}
