import type { Server } from "node:http";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import type { RouterContextProvider } from "react-router";
import * as v from "valibot";
import type { Cache } from "./cache/cache.ts";
import { ServerSettingsSchema } from "./settings.ts";

/** Every environment variable: the server's own, and those of the services. */
export const SettingsSchema = v.object({ ...ServerSettingsSchema.entries });

type Options = {
  settings: v.InferOutput<typeof SettingsSchema>;
  log: Logger;
  /** For what isn't a request, such as WebSockets: its `upgrade` event (docs/uploads-and-streams.md). */
  server: Server;
  /** Aborted when the server shuts down and accepts nobody any more. */
  shutdown: AbortSignal;
  /** Jobs call `invalidate` after they change what cached pages show. `connect` includes other processes (docs/caching.md). */
  cache: Pick<Cache, "invalidate" | "connect">;
};

/** Opens what pages need for as long as the process runs, such as a database (docs/data-and-databases.md). */
export function openServices(_options: Options) {
  return {
    /** Runs for each request that is rendered, before its body is read (docs/growing-up.md). */
    middleware: [] as RequestHandler[],
    /** Sets what loaders and actions find in their context, for each request. */
    setContext(_context: RouterContextProvider) {},
    /** Rejects while pages lack what they need: `/readyz` is 503 meanwhile. */
    async checkReadiness() {},
    /** Runs when the server shuts down, after the last response. */
    async close() {},
  };
}
