import { RouterContextProvider } from "react-router";
import { cacheContext, type Render, renderContext, signalContext } from "../../pages/context.ts";
import type { ServerSettings } from "../../settings/settings.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Cache } from "../page-cache/cache.ts";

export type ContextOptions = {
  /** A hash of the client files. */
  release: string;
  settings: ServerSettings;
  cache: Pick<Cache, "invalidate">;
  metrics: Pick<Metrics, "recordPart">;
  /** Sets the services' values. */
  setContext?: ((context: RouterContextProvider) => void) | undefined;
};

type Values = Omit<Render, "origin" | "record" | "release"> & { httpRoute: string | undefined; signal?: AbortSignal };

/** Creates the context of the middleware, loaders and actions of a request. */
export function createContextFactory({ release, settings, cache, metrics, setContext }: ContextOptions) {
  return ({ httpRoute = "", signal, ...values }: Values) => {
    const context = new RouterContextProvider();
    context.set(renderContext, {
      ...values,
      release,
      origin: settings.ORIGIN?.origin,
      record: (part, seconds) => metrics.recordPart(part, httpRoute, seconds),
    });
    if (signal) context.set(signalContext, signal);
    context.set(cacheContext, cache);
    setContext?.(context);
    return context;
  };
}

export type CreateContext = ReturnType<typeof createContextFactory>;
