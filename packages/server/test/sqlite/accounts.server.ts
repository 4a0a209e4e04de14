import type { DatabaseSync } from "node:sqlite";
import { hashPassword, isPassword } from "../../examples/sign-in/app/sign-in/passwords.server.ts";

const toKey = (email: string) => email.trim().toLowerCase();

export function createAccounts(database: DatabaseSync) {
  const insert = database.prepare("INSERT INTO accounts VALUES (?, ?) ON CONFLICT DO NOTHING");
  const select = database.prepare("SELECT hash FROM accounts WHERE email = ?");
  return {
    async create(email: string, password: string) {
      const { changes } = insert.run(toKey(email), await hashPassword(password));
      return changes === 1 ? toKey(email) : undefined;
    },

    async find(email: string, password: string) {
      const account = select.get(toKey(email)) as { hash: string } | undefined;
      return (await isPassword(password, account?.hash)) ? toKey(email) : undefined;
    },
  };
}
