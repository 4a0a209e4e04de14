import type { IncomingMessage, ServerResponse } from "node:http";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { Pool } from "pg";
import * as v from "valibot";

export const MIN_PASSWORD_LENGTH = 12;

export const authSettings = {
  /** With `memory`, accounts are lost at a restart, and each process has its own. */
  DATABASE_URL: v.pipe(v.string(), v.regex(/^(memory$|postgres(ql)?:\/\/.)/, "memory, or like postgres://host/name")),
  AUTH_SECRET: v.pipe(v.string(), v.minLength(32, "at least 32 characters")),
};

type Log = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;

type Options = { settings: { DATABASE_URL: string; AUTH_SECRET: string; ORIGIN?: URL | undefined }; log: Log };

function connect(url: string, log: Log) {
  if (url === "memory") return undefined;
  // The pool connects at the first query, so the server starts while the database is down.
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 5000 });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on("error", (err) => log.warn({ err }, "connection to the database lost"));
  return pool;
}

/** The path that the site is below, such as /app, or "". Handlers get URLs without it. */
const { BASENAME = "" } = import.meta.env;

const createInstance = ({ settings, log }: Options, pool: Pool | undefined) =>
  betterAuth({
    // Links in mails and callbacks begin with it. In development, Better Auth takes that of the request.
    ...(settings.ORIGIN && { baseURL: settings.ORIGIN.origin }),
    basePath: `${BASENAME}/auth`,
    secret: settings.AUTH_SECRET,
    database: pool ?? memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true, minPasswordLength: MIN_PASSWORD_LENGTH },
    // Browsers accept the cookie over HTTPS only, and on localhost.
    advanced: { useSecureCookies: true },
    telemetry: { enabled: false },
    // Warnings are of its users' requests, such as a wrong password.
    logger: { level: "error", log: (_level, message, ...details) => log.error({ details }, message) },
  });

export function createAuth(options: Options) {
  const pool = connect(options.settings.DATABASE_URL, options.log);
  const auth = createInstance(options, pool);
  const handle = toNodeHandler(auth);
  let migrated: Promise<void> | undefined;

  /** Creates the tables, and adds the columns of plugins. It deletes nothing. */
  async function migrate() {
    const { runMigrations, toBeCreated } = await getMigrations(auth.options);
    await runMigrations();
    if (toBeCreated.length > 0) options.log.info({ tables: toBeCreated.map(({ table }) => table) }, "tables created");
  }

  return {
    api: auth.api,
    /** Better Auth's own addresses, such as callbacks of other providers. */
    handle(req: IncomingMessage, res: ServerResponse) {
      req.url = `${BASENAME}${req.url}`;
      return handle(req, res);
    },
    /** The process is ready once the tables are there. */
    async checkReadiness() {
      if (!pool) return;
      migrated ??= migrate().catch((error) => {
        migrated = undefined;
        throw error;
      });
      await migrated;
      await pool.query("SELECT 1");
    },
    close: async () => pool?.end(),
  };
}

export type Auth = ReturnType<typeof createInstance>;
export type Session = Auth["$Infer"]["Session"];
