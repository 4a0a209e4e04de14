import type { Logger } from "pino";
import type { RouterContextProvider } from "react-router";
import * as v from "valibot";
import { ServerSettingsSchema } from "./settings.ts";

/** Every environment variable: the server's own, and those of the services. */
export const SettingsSchema = v.object({ ...ServerSettingsSchema.entries });

type Options = { settings: v.InferOutput<typeof SettingsSchema>; log: Logger };

/** Opens what pages need for as long as the process runs, such as a database (docs/data-and-databases.md). */
export function openServices(_options: Options) {
  return {
    /** Sets what loaders and actions find in their context, for each request. */
    setContext(_context: RouterContextProvider) {},
    /** Rejects while pages lack what they need: `/readyz` is 503 meanwhile. */
    async checkReadiness() {},
    /** Runs when the server shuts down, after the last response. */
    async close() {},
  };
}
