import type { Express } from "express";

/** What Express's router has in its stack: https://github.com/pillarjs/router/blob/master/lib/layer.js */
type Layer = {
  handle: { stack?: Layer[] };
  /** Since router 2.3. */
  rawPath?: unknown;
  /** Whether it matches every path. */
  slash: boolean;
  /** Of a handler in a route. */
  method?: string;
  route?: { stack: Layer[] };
};

export type Handler = {
  handle: unknown;
  /** Empty if it handles every path. */
  path: string;
  /** The path of its router. */
  mountPath: string;
  /** Whether a route has it, which handles its own path but none below. */
  isInRoute: boolean;
  /** Undefined if it handles every method. */
  method?: string;
};

export const UNKNOWN_PATH = "(unknown)";

/** The handlers of an application, its routers and routes, in the order in which a request meets them. */
export const listHandlers = ({ router }: Express) => listIn(router.stack as unknown as Layer[], "");

function listIn(layers: Layer[], mountPath: string): Handler[] {
  return layers.flatMap(({ handle, rawPath = UNKNOWN_PATH, slash, route }) => {
    const path = slash ? mountPath : mountPath + [rawPath].flat().join();
    if (route) return route.stack.map(({ handle, method }) => ({ handle, path, mountPath, isInRoute: true, method }));
    return handle.stack ? listIn(handle.stack, path) : { handle, path, mountPath, isInRoute: false };
  });
}
