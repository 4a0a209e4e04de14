import { hashPassword, isPassword } from "./passwords.server";

const toKey = (email: string) => email.trim().toLowerCase();

/**
 * Yours: a table with a unique column for the address. This map is lost at a restart, and each process has its own, so
 * it is for trying only.
 */
export function createAccounts() {
  const hashes = new Map<string, string>();
  return {
    /** Returns the new account's address, or undefined if the address has one. */
    async create(email: string, password: string) {
      const hash = await hashPassword(password);
      if (hashes.has(toKey(email))) return undefined;
      hashes.set(toKey(email), hash);
      return toKey(email);
    },

    /** Returns the account's address if the password is right. */
    async find(email: string, password: string) {
      return (await isPassword(password, hashes.get(toKey(email)))) ? toKey(email) : undefined;
    },
  };
}
