// npm install --save-prod --save-exact pg valibot
import { Pool } from "pg";
import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";
import { createPostgresChannel } from "react-router-express-server/postgres";
import * as v from "valibot";
import { databaseContext } from "./app/context.ts";

export default defineServer({
  settings: {
    DATABASE_URL: v.pipe(v.string(), v.url("a URL, like postgres://user:password@host/name")),
    /** Set it if DATABASE_URL is a pooler, such as PgBouncer, which can't LISTEN. */
    DATABASE_LISTEN_URL: v.optional(v.string()),
  },
  openServices({ settings, log, cache, metrics }) {
    // The pool connects at the first query, so the server starts while the database is down.
    const pool = new Pool({ connectionString: settings.DATABASE_URL, connectionTimeoutMillis: 5000 });
    // Without a listener, an idle connection that breaks would end the process.
    pool.on("error", (err) => log.warn({ err }, "connection to the database lost"));
    metrics.gauge("database_connections", "Open connections to the database.", () => pool.totalCount);
    cache.connect(createPostgresChannel({ url: settings.DATABASE_LISTEN_URL ?? settings.DATABASE_URL }));
    return {
      setContext(context) {
        context.set(databaseContext, pool);
      },
      checkReadiness: () => pool.query("SELECT 1"),
      close: () => pool.end(),
    };
  },
  createApp({ receive, files, pageCache, admit, compress, build, getLoadContext, handleErrors }) {
    const app = createExpress();
    app.use(receive, files, pageCache, admit, compress);
    app.use(createRequestHandler({ build, getLoadContext }));
    app.use(handleErrors);
    return app;
  },
});
