import { RouterContextProvider } from "react-router";
import { cacheContext, endedContext, type Render, renderContext, signalContext } from "../app/context.ts";
import type { Metrics } from "../operate/metrics.ts";
import type { Cache } from "../page-cache/cache.ts";
import type { ServerSettings } from "../start/settings.ts";

export type ContextOptions = {
  /** A hash of the client files. */
  release: string;
  settings: ServerSettings;
  cache: Pick<Cache, "invalidate">;
  metrics: Pick<Metrics, "recordPart">;
  /** Sets the services' values. */
  setContext?: ((context: RouterContextProvider) => void) | undefined;
};

type Values = Omit<Render, "origin" | "record" | "release"> & {
  httpRoute: string | undefined;
  signal?: AbortSignal;
  ended?: Promise<void> | undefined;
};

/** Creates the context of the middleware, loaders and actions of a request. */
export function createContextFactory({ release, settings, cache, metrics, setContext }: ContextOptions) {
  return ({ httpRoute = "", signal, ended, ...values }: Values) => {
    const context = new RouterContextProvider();
    context.set(renderContext, {
      ...values,
      release,
      origin: settings.ORIGIN?.origin,
      record: (part, seconds) => metrics.recordPart(part, httpRoute, seconds),
    });
    if (signal) context.set(signalContext, signal);
    if (ended) context.set(endedContext, ended);
    context.set(cacheContext, cache);
    const setting: unknown = setContext?.(context);
    // An async function sets its values too late. Without this, its rejection would end the process.
    if (setting instanceof Promise) setting.catch(values.onError);
    return context;
  };
}

export type CreateContext = ReturnType<typeof createContextFactory>;
