import type { Response } from "express";

/** Throws if a part is without the part that all others need, as in a test of a single one. */
export function checkReceived({ locals }: Response, name: string) {
  if (!("target" in locals)) throw new Error(`\`${name}\` needs \`app.use(receive)\` before it`);
}
