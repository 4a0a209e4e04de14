import type { Express } from "express";
import { isRequestHandler } from "./render/request-handler.ts";

/** What Express's router has in its stack: https://github.com/pillarjs/router/blob/master/lib/layer.js */
type Layer = {
  handle: { stack?: Layer[] };
  /** Whether it matches every path. */
  slash: boolean;
  route?: object;
};

/** The parts, by what `createApp` calls them, with the line that adds each, and the parts that must come before it. */
const PARTS = [
  { name: "receive", line: "app.use(receive)", isRequired: true, needs: [] },
  { name: "files", line: "app.use(files)", needs: ["receive"] },
  { name: "pageCache", line: "app.use(pageCache)", needs: ["receive", "files"] },
  { name: "admit", line: "app.use(admit)", isRequired: true, needs: ["receive"] },
  { name: "compress", line: "app.use(compress)", needs: [] },
  {
    name: "createRequestHandler",
    line: "app.use(createRequestHandler({ build, getLoadContext }))",
    isRequired: true,
    needs: ["pageCache", "admit", "compress"],
  },
  { name: "handleErrors", line: "app.use(handleErrors)", isRequired: true, needs: ["createRequestHandler"] },
] as const;

/**
 * Throws if a required part is missing, or a part is there twice or before one that it needs. Names the line to add.
 */
export function checkOrder(app: Express, parts: object) {
  const handlers = listHandlers(app.router.stack as unknown as Layer[]);
  const positionsOf = (name: string) => {
    const part = name === "createRequestHandler" ? undefined : [parts[name as keyof typeof parts]].flat().at(-1);
    return handlers.flatMap((handler, index) =>
      (part === undefined ? isRequestHandler(handler) : handler === part) ? [index] : [],
    );
  };
  for (const { name, line, needs, ...part } of PARTS) {
    const positions = positionsOf(name);
    if (positions.length === 0 && "isRequired" in part) throw new Error(`server.ts: \`${line}\` is missing`);
    if (positions.length > 1) throw new Error(`server.ts: \`${line}\` is there twice`);
    for (const need of needs) {
      const [first = 0] = positionsOf(need);
      const before = PARTS.find((other) => other.name === need)?.line;
      if (positions.some((position) => position < first))
        throw new Error(`server.ts: \`${name}\` needs \`${before}\` before it`);
    }
  }
}

/**
 * The handlers of an application and of the routers inside it, in the order in which a request meets them. Without
 * those that have a path of their own: a router in front may have its own `admit` and `compress`.
 */
function listHandlers(layers: Layer[]): unknown[] {
  const general = layers.filter(({ route, slash }) => !route && slash);
  return general.flatMap(({ handle }) => (handle.stack ? listHandlers(handle.stack) : [handle]));
}
