import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Definition, Parts, Services, Site } from "./define-server.ts";
import { FILE_ROUTE } from "./locals.ts";
import { type Limits, measureLimits, protectFromOverload } from "./overload/index.ts";
import { admit } from "./parts/admit/admit.ts";
import { sameOrigin, unlessAccepted } from "./parts/admit/check-origin.ts";
import { warnOfUnadmitted } from "./parts/admit/find-unadmitted.ts";
import { forwarded } from "./parts/admit/set-origin.ts";
import { checkOrder } from "./parts/check-order.ts";
import { createUrlCheck } from "./parts/check-url.ts";
import { compression } from "./parts/compress/compress.ts";
import { errorHandler } from "./parts/errors/handle-errors.ts";
import { readClientFiles } from "./parts/files/client-files.ts";
import { sendFiles } from "./parts/files/files.ts";
import { createCacheMetrics } from "./parts/page-cache/cache-metrics.ts";
import { createCache } from "./parts/page-cache/invalidation.ts";
import { pageCache } from "./parts/page-cache/page-cache.ts";
import { createRevalidation } from "./parts/page-cache/revalidate.ts";
import { receive } from "./parts/receive/receive.ts";
import { measureRequests } from "./parts/receive/request-metrics.ts";
import { createAfterResponse } from "./parts/render/after-response.ts";
import { createContextFactory } from "./parts/render/context.ts";
import { createGetLoadContext } from "./parts/render/load-context.ts";
import { measureParts } from "./parts/render/measure-parts.ts";
import { createAnonymousRender } from "./parts/render/render-anonymously.ts";
import { ANONYMOUS_RENDER_TIMEOUT_MS } from "./parts/render/timeouts.ts";
import { browserReports } from "./parts/reports/collect-reports.ts";
import type { ServerSettings } from "./settings/server-settings.ts";
import { policyOfAssets } from "./site/base-path.ts";
import { checkBuild } from "./site/check-build.ts";
import { checkRoutes } from "./site/check-routes.ts";
import { policyOfSettings } from "./site/content-security-policy.ts";
import { hashRelease } from "./site/hash-release.ts";
import { createPages } from "./site/pages.ts";
import { listPrerendered } from "./site/prerendered.ts";
import { createSecurityHeaders } from "./site/security-headers.ts";
import { createSiteMetrics } from "./telemetry/site-metrics.ts";

/** What differs between production, development and tests. */
type Options = {
  site: Site;
  /** False in development. Every part gets it from here; none reads a variable. */
  isProduction: boolean;
  settings: ServerSettings;
  limits: Limits;
  log: Logger;
  registry: Registry;
  /** The build's files for the browser. Undefined in development, where Vite serves them. */
  clientFolder?: string;
  /** Replace some of the parts that `createApp` gets, in tests. */
  replaced?: Partial<Parts>;
};

/**
 * Creates the server of a site: the one place where its parts meet. Opens no port. The caller opens the services, and
 * then creates the application.
 */
export async function createServer(options: Options) {
  const { site, isProduction, settings, limits, log, registry, clientFolder, replaced } = options;
  const { definition, build } = site;
  const shutdown = new AbortController();
  checkBuild(build);
  const pages = createPages(build, await site.routeConfig, isProduction, listPrerendered(clientFolder));
  const routes = [FILE_ROUTE, ...pages.routes.map(({ pattern }) => pattern)];
  const measureUsage = measureLimits(registry, limits);

  const { base } = pages;
  const policies = [policyOfSettings(settings, definition.policySources), policyOfAssets(base)];
  const securityHeaders = createSecurityHeaders(settings.STRICT_TRANSPORT_SECURITY, {
    isProduction,
    policy: policies.filter(Boolean).join("; "),
    base,
  });
  checkRoutes(pages, securityHeaders);

  const cacheMetrics = createCacheMetrics(registry, routes);
  const cache = createCache({
    site: site.name,
    release: hashRelease({ site, settings, clientFolder }),
    maxBytes: limits.PAGE_CACHE_MAX_BYTES,
    log,
    metrics: cacheMetrics,
    findRoute: pages.findRoute,
    shutdown: shutdown.signal,
  });
  const { entries, failures } = cache;
  const { afterResponse, finishWork } = createAfterResponse(registry, log);
  measureUsage("PAGE_CACHE_MAX_BYTES", () => entries.getSize().bytes);

  return {
    pages,
    cache,
    securityHeaders,
    measureUsage,
    /** Aborted at shutdown. */
    shutdown,
    /** Waits for the work after responses. */
    finishWork,
    async openServices(): Promise<Services> {
      try {
        const metrics = createSiteMetrics(registry);
        const opened = definition.openServices?.({ settings, log, shutdown: shutdown.signal, cache, metrics });
        const services = (await opened) ?? {};
        if (services.purge) cache.connectEdge(services.purge);
        return services;
      } catch (error) {
        throw nameError("openServices", error);
      }
    },

    /** Creates the application: makes the parts, and passes them to the site's `createApp`. */
    createApplication(services: Services) {
      const trustProxy = settings.TRUST_PROXY;
      const { files, bytes } = readClientFiles(clientFolder, {
        base,
        securityHeaders,
        maxBytes: limits.STATIC_FILES_MAX_BYTES,
      });
      measureUsage("STATIC_FILES_MAX_BYTES", () => bytes);

      const handleErrors = errorHandler(log);
      const {
        admitBody,
        admit: takeSlot,
        renderSlots,
        guard,
        close,
      } = protectFromOverload({
        limits,
        settings,
        headers: securityHeaders.defaults,
        handleErrors,
        registry,
        measureUsage,
      });

      const origin = settings.ORIGIN?.origin;
      const createContext = createContextFactory({
        release: build.assets.version,
        origin,
        cache,
        recordPart: measureParts(registry),
        afterResponse,
        setContext: services.setContext,
      });
      const revalidation = createRevalidation({
        pages,
        entries,
        failures,
        sharedPages: cache.sharedPages,
        renderAnonymously: createAnonymousRender({ pages, createContext, securityHeaders, origin }),
        renderTimeoutMs: ANONYMOUS_RENDER_TIMEOUT_MS,
        renderSlots,
        log,
        metrics: cacheMetrics,
      });

      const recordRequest = measureRequests(registry, routes);
      const checkUrl = createUrlCheck(log, pages.base);
      const checkOrigin = sameOrigin(settings, log);
      const admitRequest = admit({
        takeSlot,
        setOrigin: forwarded(trustProxy, settings.ORIGIN),
        checkOrigin: unlessAccepted(checkOrigin),
      });
      const parts: Parts = {
        receive: receive({ log, recordRequest, trustProxy, securityHeaders, files, pages, admitBody, handleErrors }),
        collectReports: [checkOrigin, ...browserReports(log, registry, pages, settings.WEB_VITALS_SAMPLE)],
        files: sendFiles(clientFolder, files, pages, takeSlot, checkUrl, securityHeaders.ofFiles),
        pageCache: pageCache(site.name, entries, revalidation, cache.tagHeadersOf),
        admit: admitRequest,
        checkOrigin,
        compress: compression(limits.MAX_ENCODERS, measureUsage),
        build,
        getLoadContext: createGetLoadContext({ createContext, checkUrl, shutdown: shutdown.signal, log }),
        handleErrors,
        settings,
        services,
        log,
        ...replaced,
      };
      const app = createApp(definition, parts);
      app.set("trust proxy", trustProxy);
      warnOfUnadmitted(app, { ...parts, admit: admitRequest }, log);
      return {
        app,
        /** Limits the connections of a server. */
        guard,
        /** Renders the cached pages without parameters. */
        renderAll: revalidation.renderAll,
        close,
      };
    },
  };
}

export type CreateServer = typeof createServer;

/** Calls the site's function, and checks the order of the parts. */
function createApp(definition: Definition, parts: Parts) {
  try {
    const app = definition.createApp(parts);
    checkOrder(app, parts);
    return app;
  } catch (error) {
    throw nameError("createApp", error);
  }
}

/** The error of a function of `server.ts`, with the function's name. */
function nameError(name: string, cause: unknown) {
  return new Error(`${name} failed: ${cause instanceof Error ? cause.message : cause}`, { cause });
}
