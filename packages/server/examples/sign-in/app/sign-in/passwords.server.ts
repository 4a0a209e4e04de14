import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

/** OWASP's parameters with the least memory: 16 MB for each hash. */
const COST: ScryptOptions = { N: 2 ** 14, r: 8, p: 5 };
const HASH_BYTES = 32;

const deriveKey = (password: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) => {
    // One password can be typed in two forms of Unicode.
    scrypt(password.normalize("NFKC"), salt, HASH_BYTES, COST, (error, key) => (error ? reject(error) : resolve(key)));
  });

/** Returns the salt and the hash of a password, to be saved. */
export async function hashPassword(password: string) {
  const salt = randomBytes(16);
  return `${salt.toString("base64url")}.${(await deriveKey(password, salt)).toString("base64url")}`;
}

/** Hashing takes as long if there is no account, so the time doesn't show which addresses have one. */
export async function isPassword(password: string, saved: string | undefined) {
  const [salt = "", hash = ""] = saved?.split(".") ?? [];
  const key = await deriveKey(password, Buffer.from(salt, "base64url"));
  const expected = Buffer.from(hash, "base64url");
  return key.length === expected.length && timingSafeEqual(key, expected);
}
