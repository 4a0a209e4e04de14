import { hashPassword, isPassword } from "./passwords.server";

/**
 * Yours: a table with a unique column for the address. This map is lost at a restart, and each process has its own, so
 * it is for trying only.
 */
const hashes = new Map<string, string>();

const toKey = (email: string) => email.trim().toLowerCase();

/** Creates an account. Returns its address, or undefined if the address has one. */
export async function createAccount(email: string, password: string) {
  const hash = await hashPassword(password);
  if (hashes.has(toKey(email))) return undefined;
  hashes.set(toKey(email), hash);
  return toKey(email);
}

/** Returns the account's address if the password is right. */
export async function findAccount(email: string, password: string) {
  return (await isPassword(password, hashes.get(toKey(email)))) ? toKey(email) : undefined;
}
