import { parseList } from "structured-headers";

/**
 * Parses the value of `Cache-Groups`, such as `"events", "event-17"` (RFC 9875 §2). Returns undefined if it isn't a list
 * of strings: without its quotes a name is a token, and no group.
 */
export function parseGroups(value: string | null): string[] | undefined {
  try {
    const groups = parseList(value ?? "").map(([group]) => group);
    return groups.every((group) => typeof group === "string") ? groups : undefined;
  } catch {
    return undefined;
  }
}
