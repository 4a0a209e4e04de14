import type { Express } from "express";
import { isBodyLimit } from "../overload/index.ts";
import { REPORTS_PATH } from "../pages/reports-path.ts";
import { listHandlers, UNKNOWN_PATH } from "./list-handlers.ts";
import { isRequestHandler } from "./render/request-handler.ts";

/** The parts, by what `createApp` calls them, with the line that adds each, and the parts that must come before it. */
const PARTS = [
  { name: "receive", line: "app.use(receive)", isRequired: true, needs: [] },
  { name: "collectReports", line: 'app.post("/browser-reports", collectReports)', needs: [] },
  { name: "files", line: "app.use(files)", needs: ["collectReports"] },
  { name: "pageCache", line: "app.use(pageCache)", needs: ["files"] },
  { name: "admit", line: "app.use(admit)", isRequired: true, needs: ["files", "pageCache"] },
  { name: "compress", line: "app.use(compress)", needs: ["files", "pageCache", "admit"] },
  {
    name: "createRequestHandler",
    line: "app.use(createRequestHandler({ build, getLoadContext }))",
    isRequired: true,
    needs: ["collectReports", "admit", "compress"],
  },
  { name: "handleErrors", line: "app.use(handleErrors)", isRequired: true, needs: ["createRequestHandler"] },
] as const;

/**
 * Throws if a required part is missing, a part is there twice or before one that it needs, or a handler is before
 * `receive`, or if browsers' reports have another path. Names the line to add. A handler before `receive` could set a cookie on a response that is cached.
 */
export function checkOrder(app: Express, parts: object) {
  if (!app) throw new Error("server.ts: createApp must return `app`");
  const handlers = listHandlers(app);
  const positionsOf = (name: string) => {
    const part = name === "createRequestHandler" ? undefined : [parts[name as keyof typeof parts]].flat().at(-1);
    return handlers.flatMap(({ handle, path }, index) => {
      // A router in front may have its own `admit` and `compress`.
      if (path !== "" && handle === part && (name === "files" || name === "pageCache"))
        throw new Error(`server.ts: \`${name}\` must be without a path`);
      if (path !== "" && name !== "collectReports") return [];
      return (part === undefined ? isRequestHandler(handle) : handle === part) ? index : [];
    });
  };
  const [received = 0] = positionsOf("receive");
  if (!handlers.slice(0, received).every(({ handle }) => isBodyLimit(handle)))
    throw new Error("server.ts: `app.use(receive)` must be the first `app.use(...)`, except for `maxBodyBytes`");
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
  const [reports = -1] = positionsOf("collectReports");
  const { path = "", method = "post" } = handlers[reports] ?? {};
  if (reports !== -1 && !(method === "post" && [`/${REPORTS_PATH}`, UNKNOWN_PATH].includes(path)))
    throw new Error('server.ts: pages send their reports to `app.post("/browser-reports", collectReports)`');
}
