import { createHash, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import * as v from "valibot";

export const passwordSettings = {
  /** Without it, the site is open. */
  SITE_PASSWORD: v.optional(v.pipe(v.string(), v.minLength(8, "at least 8 characters"))),
};

/** Any user name is right. The probes, on the operators' port, need no password. */
export function requirePassword({ SITE_PASSWORD }: { SITE_PASSWORD?: string | undefined }): RequestHandler {
  return (req, res, next) => {
    if (SITE_PASSWORD === undefined || isSame(readPassword(req.get("Authorization")), SITE_PASSWORD)) return next();
    res.set("WWW-Authenticate", 'Basic realm="site", charset="UTF-8"').sendStatus(401);
  };
}

/** RFC 7617: `Basic`, and the user name, a colon and the password, in Base64. */
function readPassword(authorization = "") {
  const [, encoded = ""] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  const credentials = Buffer.from(encoded, "base64").toString();
  return credentials.slice(credentials.indexOf(":") + 1);
}

/** Compares hashes, which have the same length, so that the time shows nothing of the password. */
function isSame(one: string, other: string) {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}
