import type { Server } from "node:http";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import type { RouterContextProvider } from "react-router";
import * as v from "valibot";
import type { Cache } from "./cache/cache.ts";
import { ServerSettingsSchema } from "./settings.ts";

/** The settings of the server, and those of the services. */
export const SettingsSchema = v.object({ ...ServerSettingsSchema.entries });

type Options = {
  settings: v.InferOutput<typeof SettingsSchema>;
  log: Logger;
  /** Its `upgrade` event opens WebSockets (docs/uploads-and-streams.md). */
  server: Server;
  /** Aborted at shutdown, when the users' port has closed. */
  shutdown: AbortSignal;
  /** Jobs call `invalidate` after a change of cached pages. `connect` includes other processes (docs/caching.md). */
  cache: Pick<Cache, "invalidate" | "connect">;
};

/** Opens services that pages use, such as a database (docs/data-and-databases.md). */
export function openServices(_options: Options) {
  return {
    /** Runs for each request that is rendered, before its body is read (docs/growing-up.md). */
    middleware: [] as RequestHandler[],
    /** Sets values in the context of loaders and actions, for each request. */
    setContext(_context: RouterContextProvider) {},
    /** While it rejects, `/readyz` returns 503. */
    async checkReadiness() {},
    /** Runs at shutdown, after the last response. */
    async close() {},
  };
}
