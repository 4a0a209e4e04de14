import { hostname } from "node:os";
import type { Registry } from "prom-client";
import { withoutPrivateParts } from "../telemetry/log-text.ts";
import type { createLastErrors } from "./last-errors.ts";
import type { OpsCache } from "./ops-cache.ts";
import type { Column, Page, Section } from "./ops-page.ts";
import { createRouteUsage, type RouteUsage } from "./route-usage.ts";

const MAX_ROUTES = 100;
const MAX_ENTRIES = 5;
/** As in the alert SiteNearLimit. */
const NEAR_LIMIT = 0.9;
/** They may be full: the cache evicts entries, and other files stay on disk. */
const MAY_BE_FULL = ["PAGE_CACHE_MAX_BYTES", "STATIC_FILES_MAX_BYTES"];

const number = (name: string): Column => ({ name, isNumber: true });
const long = (name: string): Column => ({ name, isLong: true });

type Options = {
  site: { name: string; version: string; revision: string };
  registry: Registry;
  readReadiness: () => { isReady: boolean; reason: string | undefined };
  /** The last failed check of the services, also of services that are ready again. */
  getLastFailure: () => { at: Date; reason: string } | undefined;
  cache: OpsCache;
  lastErrors: Pick<ReturnType<typeof createLastErrors>, "list">;
  /** The settings that the operator has set, by name. */
  given: object;
};

/** Returns a function that describes this process by its metrics and its log. */
export function createStatus({ site, registry, readReadiness, getLastFailure, cache, lastErrors, given }: Options) {
  const readUsage = createRouteUsage(registry);
  const readMetric = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? [];

  const describeProcess = async (): Promise<Section> => {
    const shed = (await readMetric("requests_shed_total")).filter(({ value }) => value > 0);
    const [evictions] = await readMetric("page_cache_evictions_total");
    const failure = getLastFailure();
    const size = cache.entries.getSize();
    const rows = [
      ["Release", site.version],
      ["Commit", site.revision],
      ["Host", `${hostname()}, process ${process.pid}, Node ${process.versions.node}`],
      ["Running", `for ${toDuration(process.uptime())}, since ${toTime(new Date(performance.timeOrigin))}`],
      [
        "Services",
        failure
          ? `last failure at ${toTime(failure.at)}: ${withoutPrivateParts(failure.reason)}`
          : "no check has failed",
      ],
      ["Channel", cache.describeChannel()],
      ["Cache in front", cache.describeEdge()],
      ["Cache", `${size.entries} entries, ${toBytes(size.bytes)}, ${evictions?.value ?? 0} evicted`],
      ["Shed", shed.map(({ labels, value }) => `${value} requests (${labels.reason})`).join(", ") || "no request"],
    ];
    return { heading: "Process", note: "Times are UTC.", columns: [{ name: "" }, long("")], rows };
  };

  const describeLimits = async (): Promise<Section> => {
    const usage = new Map((await readMetric("server_limit_usage")).map(({ labels, value }) => [labels.setting, value]));
    const rows = (await readMetric("server_limit")).map(({ labels, value: limit }) => {
      const setting = String(labels.setting);
      const used = usage.get(setting) ?? 0;
      const share = limit > 0 ? Math.min(used / limit, 1) : 0;
      const toText = (value: number) => (setting.endsWith("_BYTES") ? toBytes(value) : String(value));
      const isBad = share > NEAR_LIMIT && !MAY_BE_FULL.includes(setting);
      const bar = { text: `${Math.round(share * 100)} %`, share, isBad };
      const isSet = setting in given;
      return [setting, { text: toText(used), isBad }, isSet ? `${toText(limit)}*` : toText(limit), bar];
    });
    return {
      heading: "Limits",
      note: "* is set, so it doesn't grow with the memory.",
      columns: [long("Setting"), number("In use"), number("Limit"), { name: "Share" }],
      rows,
    };
  };

  const describeRoutes = async (): Promise<Section> => {
    const { seconds, isSinceStart, routes } = await readUsage();
    const since = `${isSinceStart ? "Since the start" : "Since the last look"}, ${toDuration(seconds)} ago.`;
    return {
      heading: "Requests by route",
      note: `${since} To see the requests from now on, look again after 10 s or more.`,
      isWide: true,
      columns: [long("Route"), ...["Requests", "Per s", "p50 ms", "p99 ms", "Errors", "Cache hits"].map(number)],
      rows: routes.slice(0, MAX_ROUTES).map(toRouteRow),
    };
  };

  const describeErrors = (): Section => ({
    heading: "Last errors",
    note: "The log has their stacks.",
    isWide: true,
    columns: [{ name: "Last" }, number("Times"), long("Error")],
    rows: lastErrors.list().map(({ time, times, message, where, requestId }) => {
      const request = requestId && `request ${requestId}`;
      const details = [where, request].filter(Boolean).join(", ");
      return [toTime(new Date(time)), String(times), details ? `${message} (${details})` : message];
    }),
  });

  const describeEntries = (): Section[] => {
    const { largest, oldest } = cache.entries.listExtremes(MAX_ENTRIES);
    const columns = [long("Cache key"), number("KiB"), number("Age")];
    const toRows = (entries: typeof largest) =>
      entries.map(({ key, bytes, ageSeconds }) => [key, (bytes / 1024).toFixed(1), toDuration(ageSeconds)]);
    return [
      { heading: "Largest cache entries", columns, rows: toRows(largest) },
      { heading: "Oldest cache entries", columns, rows: toRows(oldest) },
    ];
  };

  return async (): Promise<Page> => {
    const { isReady, reason } = readReadiness();
    const state = [isReady ? "ready" : "not ready", ...(reason === undefined ? [] : [withoutPrivateParts(reason)])];
    return {
      title: `${site.name} ${site.version}`,
      state: state.join(isReady ? ", but " : ": "),
      isGood: isReady && reason === undefined,
      sections: [
        await describeProcess(),
        await describeLimits(),
        describeErrors(),
        await describeRoutes(),
        ...describeEntries(),
      ],
    };
  };
}

function toRouteRow({ route, requests, perSecond, p50, p99, errors, hitRate }: RouteUsage) {
  return [
    route || "(malformed)",
    String(requests),
    perSecond.toFixed(1),
    toMilliseconds(p50),
    toMilliseconds(p99),
    { text: String(errors), isBad: errors > 0 },
    hitRate === undefined ? "" : `${Math.round(hitRate * 100)} %`,
  ];
}

/** With one decimal, so that columns are aligned. */
function toMilliseconds(seconds: number | undefined) {
  if (seconds === undefined) return "";
  if (seconds === Number.POSITIVE_INFINITY) return ">10000";
  return seconds < 0.0001 ? "< 0.1" : (seconds * 1000).toFixed(1);
}

function toBytes(bytes: number) {
  if (bytes === 0) return "0";
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function toDuration(seconds: number) {
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
}

/** Month, day and time, in UTC. */
const toTime = (date: Date) => date.toISOString().slice(5, 19).replace("T", " ");
