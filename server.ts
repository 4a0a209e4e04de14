import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createApplication } from "./server/app.ts";
import { recordAccess } from "./server/middleware/access-log.ts";
import { createAnswer } from "./server/middleware/page-cache.ts";
import { listFiles } from "./server/middleware/static-files.ts";
import { createLog } from "./server/ops/log.ts";
import { createMetrics } from "./server/ops/metrics.ts";
import { build } from "./server/pages/build.ts";
import { renderDocuments } from "./server/pages/documents.ts";
import { createRouteTable } from "./server/pages/route-table.ts";
import { startLifecycle } from "./server/process.ts";
import { readSettings, refuseToStart } from "./server/settings.ts";

const isMain = process.argv[1] && existsSync(process.argv[1]) && realpathSync(process.argv[1]) === import.meta.filename;
const settings = readSettings(process.env, isMain ? refuseToStart : undefined);
const { log, lines } = createLog(settings.LOG_LEVEL);
const metrics = createMetrics();
const lifecycle = isMain ? await startLifecycle({ metrics, log, settings }) : undefined;
const trust = settings.TRUST_PROXY;

const folder = join(import.meta.dirname, "../client");
const files = import.meta.env.DEV ? new Set<string>() : listFiles(folder);
const { targets, find } = createRouteTable(build.routes);
// In development every page is rendered anew at each request, so that a change shows.
const documents = import.meta.env.DEV ? new Map() : await renderDocuments(targets);

/** Answers the public address. Importing it opens no port. */
export const listener = recordAccess(
  createAnswer({ find, documents, files, application: createApplication({ folder, files, trust, log }) }),
  { lines: log.isLevelEnabled("info") ? lines : undefined, metrics, trust },
);

await lifecycle?.serve(listener);
