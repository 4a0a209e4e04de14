import * as build from "virtual:react-router/server-build";
import type * as EntryServer from "../../app/entry.server.tsx";

/** What the framework made of app/: the server's only way to it. */
export { build };

/** app/entry.server.tsx exports it; the framework's own type of that file doesn't know it. */
export const { renderContext } = build.entry.module as unknown as typeof EntryServer;
