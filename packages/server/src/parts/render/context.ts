import type { Response } from "express";
import { RouterContextProvider } from "react-router";
import {
  type AfterResponse,
  afterContext,
  type Cache,
  cacheContext,
  endedContext,
  type Render,
  renderContext,
  signalContext,
} from "../../pages/context.ts";
import type { RecordPart } from "./measure-parts.ts";

export type ContextOptions = {
  /** A hash of the client files. */
  release: string;
  /** The site's public origin, if the operator sets it. */
  origin: string | undefined;
  cache: Cache;
  recordPart: RecordPart;
  afterResponse: (res?: Response) => AfterResponse;
  /** Sets the services' values. */
  setContext?: ((context: RouterContextProvider) => void) | undefined;
};

type Values = Omit<Render, "origin" | "record" | "release"> & {
  httpRoute: string | undefined;
  signal?: AbortSignal;
  ended?: Promise<void> | undefined;
  /** Undefined if the response is rendered for the cache. */
  res?: Response;
};

/** Creates the context of the middleware, loaders and actions of a request. */
export function createContextFactory({
  release,
  origin,
  cache,
  recordPart,
  afterResponse,
  setContext,
}: ContextOptions) {
  return ({ httpRoute = "", signal, ended, res, ...values }: Values) => {
    const context = new RouterContextProvider();
    context.set(renderContext, {
      ...values,
      release,
      origin,
      record: (part, seconds) => recordPart(part, httpRoute, seconds),
    });
    if (signal) context.set(signalContext, signal);
    if (ended) context.set(endedContext, ended);
    context.set(cacheContext, cache);
    context.set(afterContext, afterResponse(res));
    const setting: unknown = setContext?.(context);
    // An async function sets its values too late. Without this, its rejection would end the process.
    if (setting instanceof Promise) setting.catch(values.onError);
    return context;
  };
}

export type CreateContext = ReturnType<typeof createContextFactory>;
