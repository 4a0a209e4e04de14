import type { Express } from "express";

/** What Express's router has in its stack: https://github.com/pillarjs/router/blob/master/lib/layer.js */
type Layer = {
  handle: { stack?: Layer[] };
  /** Since router 2.3. In older versions, no handler is found. */
  rawPath?: unknown;
  /** Whether it matches every path. */
  slash: boolean;
  route?: { stack: Layer[] };
};

type Options = { receive: unknown; files: unknown; admitted: unknown[] };

/** The paths of the handlers between `receive` and `files` that have none of `admitted` in front of them. */
export function findUnadmitted({ router }: Express, { receive, files, admitted }: Options) {
  const { stack }: { stack: Layer[] } = router as never;
  const indexOf = (part: unknown) => stack.findIndex(({ handle }) => handle === part);
  if (indexOf(receive) === -1) return [];
  return [...new Set(findIn(stack.slice(indexOf(receive) + 1, indexOf(files)), "", admitted))];
}

function findIn(layers: Layer[], mountPath: string, admitted: unknown[]): string[] {
  const admittedPaths: string[] = [];
  return layers.flatMap((layer) => {
    const { handle, rawPath, slash } = layer;
    const path = slash ? mountPath : mountPath + [rawPath].flat().join();
    if (admitted.includes(handle)) admittedPaths.push(path);
    if (admittedPaths.some((start) => path === start || path.startsWith(`${start}/`))) return [];
    if (handle.stack && (slash || contains(layer, admitted))) return findIn(handle.stack, path, admitted);
    return slash || rawPath === undefined || contains(layer, admitted) ? [] : path;
  });
}

/** Whether a handler, or one of its route or router, is one of `admitted`. */
function contains({ handle, route }: Layer, admitted: unknown[]): boolean {
  const inner = route?.stack ?? handle.stack ?? [];
  return admitted.includes(handle) || inner.some((layer) => contains(layer, admitted));
}
