import { setTimeout } from "node:timers/promises";
import { Client, escapeIdentifier, Pool } from "pg";
import type { CacheChannel } from "../invalidation.ts";

const RETRY_INTERVAL_MS = 500;
/** The next query detects a connection that was lost without a reset. */
const CHECK_INTERVAL_MS = 5000;
const TIMEOUT_MS = 3000;
/** Edits wait while a message is published. */
const PUBLISH_TIMEOUT_MS = 2000;

type Options = {
  /** Of PostgreSQL itself: a pooler, such as PgBouncer, can't LISTEN. */
  url: string;
  /** The name of the channel. Sites that share a database need different ones. */
  channel?: string;
};

/** Carries cache invalidations between the processes of a site with PostgreSQL's NOTIFY and LISTEN. */
export function createPostgresChannel({ url, channel = "cache_invalidation" }: Options): CacheChannel {
  const closing = new AbortController();
  // A query that fails closes its connection, so that the next message gets a new one.
  const publisher = new Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: PUBLISH_TIMEOUT_MS,
    query_timeout: PUBLISH_TIMEOUT_MS,
    allowExitOnIdle: true,
  });
  publisher.on("error", () => {}); // Without a listener, an idle connection that breaks would end the process.

  /** Resolves with an error when the connection is lost. */
  async function listen(onMessage: (message: string) => void, onConnection: (isConnected: boolean) => void) {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
    const ended = new AbortController();
    client.on("error", (err) => ended.abort(err));
    client.on("end", () => ended.abort());
    client.on("notification", ({ payload = "" }) => onMessage(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${escapeIdentifier(channel)}`);
      onConnection(true);
      const signal = AbortSignal.any([ended.signal, closing.signal]);
      for (;;) {
        await setTimeout(CHECK_INTERVAL_MS, undefined, { signal });
        await client.query("SELECT 1");
      }
    } catch (err) {
      client.end().catch(() => {});
      return err;
    }
  }

  return {
    publish: (message) => publisher.query("SELECT pg_notify($1, $2)", [channel, message]),
    async subscribe(onMessage, onConnection) {
      while (!closing.signal.aborted) {
        const err = await listen(onMessage, onConnection);
        if (closing.signal.aborted) return;
        onConnection(false, err);
        await setTimeout(RETRY_INTERVAL_MS);
      }
    },
    async close() {
      closing.abort();
      await publisher.end();
    },
  };
}
