// The SQLite of docs/data-and-databases.md, and the accounts in it of the example "sign-in".
import { mkdtempSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test as base, expect } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));

// Node 20 has none.
const test = base.runIf(isBuiltin("node:sqlite"));
const load = async () => ({
  ...(await import("./sqlite/database.ts")),
  ...(await import("./sqlite/accounts.server.ts")),
});

test("an address has one account, which outlives the process", async () => {
  const { openDatabase, createAccounts } = await load();
  const file = join(folder, "accounts");
  const first = openDatabase(file);
  expect(await createAccounts(first).create(" Ada@example.org", "four words and more")).toBe("ada@example.org");
  first.close();

  const database = openDatabase(file);
  const accounts = createAccounts(database);
  expect(await accounts.create("ada@example.org", "another password")).toBeUndefined();
  expect(await accounts.find("ADA@example.org ", "four words and more")).toBe("ada@example.org");
  expect(await accounts.find("ada@example.org", "another password")).toBeUndefined();
  expect(await accounts.find("eve@example.org", "four words and more")).toBeUndefined();
  database.close();
});

test("an earlier release opens the file of a later one, which then has all of its tables", async () => {
  const { openDatabase } = await load();
  const file = join(folder, "later");
  const later = openDatabase(file);
  later.exec("CREATE TABLE orders (id INTEGER) STRICT; PRAGMA user_version = 2");
  later.close();
  for (const _release of ["earlier", "later"]) {
    const database = openDatabase(file);
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
    database.close();
  }
});

test("two processes can write", async () => {
  const { openDatabase } = await load();
  const file = join(folder, "shared");
  const databases = [openDatabase(file), openDatabase(file)];
  databases.forEach((database, index) => {
    database.prepare("INSERT INTO accounts VALUES (?, '')").run(`${index}`);
  });
  expect(databases[0]?.prepare("SELECT count(*) AS count FROM accounts").get()).toEqual({ count: 2 });
  for (const database of databases) database.close();
});
