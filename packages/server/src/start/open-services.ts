import type { Definition, Services } from "../define-server.ts";

type Options = Parameters<NonNullable<Definition["openServices"]>>[0];

/** Opens the services of a site. If that fails, the error names the function. */
export async function openServices({ openServices: open }: Definition, options: Options): Promise<Services> {
  try {
    return (await open?.(options)) ?? {};
  } catch (error) {
    throw nameError("openServices", error);
  }
}

/** The error of a function of `server.ts`, with its name. */
export function nameError(name: string, cause: unknown) {
  return new Error(`${name} failed: ${cause instanceof Error ? cause.message : cause}`, { cause });
}
