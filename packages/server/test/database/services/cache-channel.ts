// npm install --save-prod --save-exact pg
import { setTimeout } from "node:timers/promises";
import { Client, type Pool } from "pg";
import type { CacheChannel } from "react-router-express-server";

const CHANNEL = "cache_invalidation";
const RETRY_INTERVAL_MS = 500;
/** The next query detects a connection that was lost without a reset. */
const CHECK_INTERVAL_MS = 5000;
const TIMEOUT_MS = 3000;

/** Carries cache invalidations to every process with NOTIFY and LISTEN, until the server shuts down. */
export function createCacheChannel(pool: Pool, listenUrl: string, shutdown: AbortSignal): CacheChannel {
  return {
    publish: (message) => pool.query("SELECT pg_notify($1, $2)", [CHANNEL, message]),
    async subscribe(onMessage, onConnection) {
      while (!shutdown.aborted) {
        const client = new Client({
          connectionString: listenUrl,
          connectionTimeoutMillis: TIMEOUT_MS,
          query_timeout: TIMEOUT_MS,
        });
        const isEnded = new AbortController();
        client.on("error", () => {}); // Without a listener it would end the process.
        client.on("end", () => isEnded.abort());
        client.on("notification", ({ payload = "" }) => onMessage(payload));
        try {
          await client.connect();
          await client.query(`LISTEN ${CHANNEL}`);
          onConnection(true);
          const signal = AbortSignal.any([isEnded.signal, shutdown]);
          for (;;) {
            await setTimeout(CHECK_INTERVAL_MS, undefined, { signal });
            await client.query("SELECT 1");
          }
        } catch {
          client.end().catch(() => {});
          if (shutdown.aborted) return;
          onConnection(false);
          await setTimeout(RETRY_INTERVAL_MS);
        }
      }
    },
  };
}
