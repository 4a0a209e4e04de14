import { DatabaseSync } from "node:sqlite";

/** Each runs once. After a release, add another: a change would never run. */
const MIGRATIONS = ["CREATE TABLE accounts (email TEXT PRIMARY KEY, hash TEXT NOT NULL) STRICT"];

/** Opens a file, or ":memory:", and runs the new migrations. */
export function openDatabase(file: string) {
  const database = new DatabaseSync(file);
  // Reads don't wait for a write of another process, and writes do so for up to 1 s.
  database.exec("PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
  const [done = 0] = Object.values(database.prepare("PRAGMA user_version").get() ?? {}).map(Number);
  for (const migration of MIGRATIONS.slice(done)) database.exec(migration);
  database.exec(`PRAGMA user_version = ${Math.max(done, MIGRATIONS.length)}; COMMIT`);
  return database;
}
