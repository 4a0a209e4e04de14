import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RouteConfig } from "@react-router/dev/routes";
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import type { RouterContextProvider, ServerBuild } from "react-router";
import type * as v from "valibot";
import type {} from "./locals.ts";
import type { Purge } from "./parts/page-cache/edge.ts";
import type { Cache } from "./parts/page-cache/invalidation.ts";
import type { ServerSettings } from "./settings/server-settings.ts";
import type { Directive } from "./site/content-security-policy.ts";
import type { SiteMetrics } from "./telemetry/site-metrics.ts";

/** Takes a connection over for another protocol, such as WebSocket. */
export type UpgradeHandler = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** The values of the server's settings and of the site's own. */
export type Settings<Entries extends v.ObjectEntries> = ServerSettings &
  v.InferOutput<v.ObjectSchema<Entries, undefined>>;

/** What `openServices` gets. A service that needs a part of it takes `Pick<ServiceOptions, "log" | "metrics">`. */
export type ServiceOptions<Entries extends v.ObjectEntries = v.ObjectEntries> = {
  settings: Settings<Entries>;
  log: Logger;
  /** Aborted at shutdown, when the port has closed. */
  shutdown: AbortSignal;
  /** Jobs call `invalidate` after a change of cached pages. `connect` includes other processes (docs/caching.md). */
  cache: Pick<Cache, "invalidate" | "connect">;
  /** Creates metrics of the site's own. */
  metrics: SiteMetrics;
};

/** What the process opens once, such as a database. It may have further properties, for `createApp`. */
export type Services = {
  /** Sets values in the context of loaders and actions, for each request and for each render for the cache. */
  setContext?: (context: RouterContextProvider) => void;
  /** Takes connections over for another protocol, such as WebSocket. Without it, an upgrade is an ordinary request. */
  upgrade?: UpgradeHandler;
  /**
   * Runs every 2 s, and fails if it throws or its promise rejects. Until the first success, `/readyz` returns 503. Later,
   * two failed checks in a row are logged and set the metric `services_ready` to 0.
   */
  checkReadiness?: () => unknown;
  /** With "services", `/readyz` also returns 503 while `checkReadiness` fails. The default is "process". */
  readiness?: "process" | "services";
  /** Purges a cache in front, such as a CDN, after an edit of this process (docs/caching.md). */
  purge?: Purge;
  /** Runs at shutdown, after the last response. */
  close?: () => unknown;
} & object; // Otherwise, TypeScript would reject services that have none of these properties.

/** The parts that `createApp` puts in order. */
export type Parts<Entries extends v.ObjectEntries = v.ObjectEntries, Opened = Services> = {
  /** Request id, log line and metrics, security headers; rejects malformed requests; limits bodies. */
  receive: RequestHandler;
  /** Logs and counts the reports that browsers POST, and measures their web vitals. */
  collectReports: RequestHandler[];
  /** Sends `public/` and hashed assets. */
  files: RequestHandler;
  /** Sends the pages of routes that set `s-maxage`. */
  pageCache: RequestHandler;
  /** Load shedding, the origin of `request.url`, and `checkOrigin`. For pages, and for each handler in front. */
  admit: RequestHandler;
  /** Rejects cross-origin requests of browsers that may change something. `admit` includes it. */
  checkOrigin: RequestHandler;
  /** Compresses responses. */
  compress: RequestHandler;
  /** The build of `app/`, for `createRequestHandler`. */
  build: ServerBuild;
  /** Creates the context of loaders and actions, for `createRequestHandler`. */
  getLoadContext: (req: Request, res: Response) => RouterContextProvider;
  /** Sends errors as plain text, and logs those that aren't the client's fault. */
  handleErrors: ErrorRequestHandler;
  settings: Settings<Entries>;
  services: Opened;
  log: Logger;
};

export type Definition<Entries extends v.ObjectEntries = v.ObjectEntries, Opened extends Services = Services> = {
  /** The site's own settings: the valibot schema of each environment variable, by its name. */
  settings?: Entries;
  /** The settings that are URLs whose origins are added to every page's policy, each with its directives. */
  policySources?: { [Name in keyof NoInfer<Entries>]?: Directive[] };
  /** Opens what the process needs once. */
  openServices?(options: ServiceOptions<Entries>): Opened | Promise<Opened>;
  /** Creates the Express application of the site. */
  createApp(parts: Parts<Entries, Opened>): Express;
};

/** Defines a server. Nothing runs until it is started. */
export function defineServer<Entries extends v.ObjectEntries, Opened extends Services>(
  definition: Definition<Entries, Opened>,
) {
  return definition;
}

/** What the server gets of a site, as values (vite/entries.ts). */
export type Site = {
  /** The default export of `server.ts`. */
  definition: Definition;
  build: ServerBuild;
  /** The default export of `app/routes.ts`. */
  routeConfig: RouteConfig;
  /** The name and version of its `package.json`. */
  name: string;
  version: string;
  /** The commit, if the build got it. */
  revision: string;
};
