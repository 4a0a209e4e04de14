import { useEffect } from "react";
import { useMatches } from "react-router";
import { IS_SERVER } from "./environment.ts";
import type { Handle } from "./handle.ts";
import { useIsOutdated } from "./release.ts";

/** The security headers that the routes of the loaded document added. */
let received: string[] | undefined;

/**
 * Returns whether the page needs a document of its own, and loads it. A page needs one if it adds security headers that
 * the current document doesn't have. After a release, each page needs one, to get the new code.
 */
export function useOwnDocument() {
  const handles = useMatches().map(({ handle }) => handle as Handle | undefined);
  const added = handles.flatMap((handle) => Object.entries(handle?.securityHeaders ?? {}).map(String));
  if (!IS_SERVER) received ??= added;
  const isMissing = received !== undefined && !added.every((header) => received?.includes(header));
  const isOutdated = useIsOutdated();
  const needsOwnDocument = isMissing || isOutdated;
  useEffect(() => {
    if (needsOwnDocument) location.reload();
  }, [needsOwnDocument]);
  return needsOwnDocument;
}
