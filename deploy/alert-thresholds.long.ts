// Each threshold of alerts.yaml, with Prometheus' promtool: a site just within it is silent, and one just past it alerts.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

type Series = Record<string, string>;

/** The sites exist for this many minutes. Most troubles last, and the others start 20 minutes before the end. */
const MINUTES = 365;
const RECENT = 345;
const gauge = (valueAt: (minute: number) => number) =>
  Array.from({ length: MINUTES + 1 }, (_, minute) => valueAt(minute)).join(" ");
/** Rises by so much per second. */
const counter = (rateAt: (minute: number) => number) => {
  let total = 0;
  return gauge((minute) => (total += 60 * rateAt(minute)));
};
const steady = (rate: number) => counter(() => rate);

const responses = (labels: string) => `http_server_request_duration_seconds_count{http_route="/",${labels}}`;
const OK = responses('http_response_status_code="200"');
const FAILED = responses('http_response_status_code="503"');
const FORBIDDEN = responses('http_request_method="GET",http_response_status_code="403"');
const FORM_OK = responses('http_request_method="POST",http_response_status_code="303"');
const FORM_FORBIDDEN = responses('http_request_method="POST",http_response_status_code="403"');
const FILE_OK = 'http_server_request_duration_seconds_count{http_route="file",http_response_status_code="200"}';
const FILE_MISSING = 'http_server_request_duration_seconds_count{http_route="file",http_response_status_code="404"}';
const FAST = 'http_server_request_duration_seconds_bucket{http_route="/",http_response_status_code="200",le="1"}';

/** Ready in a share of the minutes, and never away for two. */
const flapping = (share: number) => gauge((minute) => Math.floor((minute + 1) * share) - Math.floor(minute * share));
/** All visits take so long. */
const visits = (vital: string, seconds: number, perHour = 1000): Series => ({
  [`web_vitals_seconds_bucket{vital="${vital}",le="${seconds / 0.75}"}`]: steady(perHour / 3600),
  [`web_vitals_seconds_bucket{vital="${vital}",le="+Inf"}`]: steady(perHour / 3600),
  [`web_vitals_seconds_count{vital="${vital}"}`]: steady(perHour / 3600),
});

type BurnRate = (value: number, minute: number) => number;
/** How many times the objective's share fails, so that one window of the alert decides. */
const BURN_RATES: [within: number, past: number, rateAt: BurnRate][] = [
  // Of the last hour. The share of `5m` takes five minutes to rise, so that it has 17.5 of these 20.
  [13, 15.8, (value, minute) => (minute > RECENT ? (value * 60) / 17.5 : 0)],
  // Of the last 5 minutes.
  [13, 15.8, (value, minute) => (minute > 355 ? value : minute > 300 ? 25 : 0)],
  // Of the last 6 hours.
  [5.4, 6.6, (value, minute) => (minute > 305 ? 10 : (6 * value - 10) / 5)],
  // Of the last 30 minutes.
  [5.4, 6.6, (value, minute) => (minute > 330 ? value : 10)],
];

/** An alert, values just within its threshold and just past it, and the series of a site with such a value. */
const THRESHOLDS: [alert: string, within: number, past: number, series: (value: number) => Series][] = [
  ["SiteDown", 0.5, 0.4, (share) => ({ "up{}": flapping(share) })],
  ["SiteNotReady", 0.5, 0.4, (share) => ({ "app_ready{}": flapping(share) })],
  ["SiteNotReady", 0.5, 0.4, (share) => ({ "services_ready{}": flapping(share) })],
  ...BURN_RATES.flatMap(([within, past, rateAt]): typeof THRESHOLDS => [
    [
      "SiteErrors",
      within,
      past,
      (value) => ({ [OK]: steady(100), [FAILED]: counter((minute) => 0.1 * rateAt(value, minute)) }),
    ],
    [
      "SiteSlow",
      within,
      past,
      (value) => ({ [OK]: steady(100), [FAST]: counter((minute) => 100 - rateAt(value, minute)) }),
    ],
  ]),
  ["SiteErrors", 9, 11, (perHour) => ({ [FAILED]: steady(perHour / 3600) })],
  ["SiteSlow", 9, 11, (perHour) => ({ [OK]: steady(perHour / 3600), [FAST]: steady(0) })],
  ["SiteErrorBudget", 0.9, 1.1, (value) => ({ [OK]: steady(100), [FAILED]: steady(0.1 * value) })],
  ["SiteErrorBudget", 9, 11, (per6Hours) => ({ [FAILED]: steady(per6Hours / 6 / 3600) })],
  ["SiteSlowBudget", 0.9, 1.1, (value) => ({ [OK]: steady(100), [FAST]: steady(100 - value) })],
  ["SiteSlowBudget", 9, 11, (per6Hours) => ({ [OK]: steady(per6Hours / 6 / 3600), [FAST]: steady(0) })],
  // The mean of the day includes the 20 minutes.
  ["SiteNoTraffic", 0.0105, 0.0085, (share) => ({ [OK]: counter((minute) => (minute > RECENT ? share : 1)) })],
  ["SiteNoTraffic", 0.095, 0.115, (rate) => ({ [OK]: counter((minute) => (minute > RECENT ? 0 : rate)) })],
  [
    "SitePageFails",
    4.5,
    5.5,
    (in10Minutes) => ({ 'page_cache_renders_total{result="failed"}': steady(in10Minutes / 600) }),
  ],
  ["SiteOverloaded", 0.09, 0.11, (rate) => ({ "requests_shed_total{}": steady(rate) })],
  [
    "SiteRestarts",
    3,
    4,
    (times) => ({ "process_start_time_seconds{}": gauge((minute) => Math.min(times, Math.max(0, minute - RECENT))) }),
  ],
  ["SiteChannelLost", 1, 0, (value) => ({ "page_cache_channel_connected{}": gauge(() => value) })],
  ["SitePublishFails", 54, 66, (seconds) => ({ "page_cache_publish_wait_seconds{}": gauge(() => seconds) })],
  ["SitePurgeFails", 54, 66, (seconds) => ({ "page_cache_purge_wait_seconds{}": gauge(() => seconds) })],
  [
    "SiteStoreFails",
    18,
    22,
    (in15Minutes) => ({ 'page_cache_store_total{result="error"}': steady(in15Minutes / 900) }),
  ],
  ["SiteAssetsMissing", 0.045, 0.055, (share) => ({ [FILE_OK]: steady(1 - share), [FILE_MISSING]: steady(share) })],
  ["SiteAssetsMissing", 0.09, 0.11, (rate) => ({ [FILE_MISSING]: steady(rate) })],
  // Times the rate before, which are 2.8 and 3.4 times the day's mean.
  [
    "SiteForbidden",
    3,
    3.9,
    (times) => ({ [OK]: steady(10), [FORBIDDEN]: counter((minute) => (minute > RECENT ? times : 1)) }),
  ],
  [
    "SiteForbidden",
    0.018,
    0.022,
    (rate) => ({ [OK]: steady(0.1), [FORBIDDEN]: counter((minute) => (minute > RECENT ? rate : 0)) }),
  ],
  [
    "SiteForbidden",
    0.045,
    0.055,
    (share) => ({
      [OK]: counter((minute) => (minute > RECENT ? 1 - share : 1)),
      [FORBIDDEN]: counter((minute) => (minute > RECENT ? share : 0)),
    }),
  ],
  ["SiteFormsRejected", 0.18, 0.22, (share) => ({ [FORM_OK]: steady(1 - share), [FORM_FORBIDDEN]: steady(share) })],
  ["SiteFormsRejected", 0.018, 0.022, (rate) => ({ [FORM_FORBIDDEN]: steady(rate) })],
  ["SiteSaturated", 0.72, 0.88, (share) => ({ "process_cpu_seconds_total{}": steady(share) })],
  ["SiteSaturated", 0.45, 0.55, (seconds) => ({ "nodejs_eventloop_lag_p99_seconds{}": gauge(() => seconds) })],
  ["SiteBlocked", 4.5, 5.5, (seconds) => ({ "nodejs_eventloop_lag_max_seconds{}": gauge(() => seconds) })],
  [
    "SiteNearLimit",
    0.85,
    0.95,
    (share) => ({
      'server_limit{setting="MAX_CONNECTIONS"}': gauge(() => 1),
      'server_limit_usage{setting="MAX_CONNECTIONS"}': gauge(() => share),
      // Caches are full by design.
      'server_limit{setting="PAGE_CACHE_MAX_BYTES"}': gauge(() => 1),
      'server_limit_usage{setting="PAGE_CACHE_MAX_BYTES"}': gauge(() => 1),
      'server_limit{setting="STATIC_FILES_MAX_BYTES"}': gauge(() => 1),
      'server_limit_usage{setting="STATIC_FILES_MAX_BYTES"}': gauge(() => 1),
    }),
  ],
  ["SiteConnectionLimit", 0.9, 1.1, (rate) => ({ 'connections_dropped_total{reason="limit"}': steady(rate) })],
  [
    "SiteCacheMisses",
    0.45,
    0.55,
    (share) => ({
      'page_cache_requests_total{result="hit"}': steady(10 * (1 - share)),
      'page_cache_requests_total{result="miss"}': steady(10 * share),
    }),
  ],
  ["SiteCacheMisses", 0.9, 1.1, (rate) => ({ 'page_cache_requests_total{result="miss"}': steady(rate) })],
  ["SiteBrowserReports", 9, 11, (perHour) => ({ 'browser_reports_total{type="crash"}': steady(perHour / 3600) })],
  ["SiteSlowInBrowsers", 3.6, 4.4, (seconds) => visits("LCP", seconds)],
  ["SiteSlowInBrowsers", 0.45, 0.55, (seconds) => visits("INP", seconds)],
  ["SiteSlowInBrowsers", 45, 55, (perHour) => visits("INP", 1, perHour)],
  ["SiteLogLost", 0, 0.01, (rate) => ({ "log_lines_dropped_total{}": steady(rate) })],
];

test("just within each threshold a site is silent, and just past it the alert fires", () => {
  const rows = THRESHOLDS.map(([alert, within, past, series], row) => {
    const sites = Object.entries({ within, past }).map(([namespace, value]) => ({ namespace, value }));
    const input_series = sites.flatMap(({ namespace, value }) =>
      Object.entries({ "app_build_info{}": gauge(() => 1), ...series(value) }).map(([name, values]) => ({
        series: name.replace("{", `{namespace="${namespace}",job="${row}",`),
        values,
      })),
    );
    const expr = `group by (alertname, namespace) (ALERTS{alertname="${alert}",job="${row}",alertstate="firing"})`;
    const exp_samples = [{ labels: `{alertname="${alert}",namespace="past"}`, value: 1 }];
    return { input_series, check: { expr, eval_time: `${MINUTES}m`, exp_samples } };
  });
  const tests = [
    {
      interval: "1m",
      input_series: rows.flatMap(({ input_series }) => input_series),
      promql_expr_test: rows.map(({ check }) => check),
    },
  ];
  const folder = mkdtempSync(join(tmpdir(), "thresholds-"));
  const file = join(folder, "thresholds.json");
  writeFileSync(
    file,
    JSON.stringify({ rule_files: [resolve("deploy/alerts.yaml")], evaluation_interval: "1m", tests }),
  );
  try {
    expect(execFileSync("promtool", ["test", "rules", file], { encoding: "utf8" })).toContain("SUCCESS");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("each alert that compares with a number is above", () => {
  const [{ rules }]: [{ rules: { alert?: string; expr: string }[] }] = parse(
    readFileSync("deploy/alerts.yaml", "utf8"),
  ).groups;
  const compared = rules.flatMap(({ alert, expr }) => (alert && /[<>]|== \d/.test(expr) ? [alert] : []));
  expect([...new Set(THRESHOLDS.map(([alert]) => alert))].toSorted()).toEqual(compared.toSorted());
});
