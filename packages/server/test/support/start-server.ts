import * as testing from "react-router-express-server/testing";
import { SITE } from "./site.ts";

export type { RunningServer, ServerProcess } from "react-router-express-server/testing";

/** The environment of a server of the site. */
export const SERVER_ENV = testing.serverEnvironment(SITE);

/** Spawns a build, by default that of the site. */
export const spawnServer = (env: Record<string, string> = {}, folder = SITE, command?: testing.Command) =>
  testing.spawnServer(env, folder, command);

/** Starts a build, by default that of the site. */
export const startServer = (env: Record<string, string> = {}, folder = SITE, command?: testing.Command) =>
  testing.startServer(env, folder, command);
