import { useEffect } from "react";
import { useMatches } from "react-router";
import { useIsOutdated } from "./release";

type Handle = { securityHeaders?: Record<string, string> } | undefined;

/** What the page that the document was loaded with, and its layouts, add to the security headers. */
let received: string[] | undefined;

/**
 * Whether the page needs a document of its own, which is then loaded. Security headers are a document's: after a
 * navigation in the browser, they are those of the page before. After a release, the document has the new code.
 */
export function useOwnDocument() {
  const handles = useMatches().map(({ handle }) => handle as Handle);
  const added = handles.flatMap((handle) => Object.entries(handle?.securityHeaders ?? {}).map(String));
  if (!import.meta.env.SSR) received ??= added;
  const isMissing = received !== undefined && !added.every((header) => received?.includes(header));
  const isOutdated = useIsOutdated();
  const needsOwnDocument = isMissing || isOutdated;
  useEffect(() => {
    if (needsOwnDocument) location.reload();
  }, [needsOwnDocument]);
  return needsOwnDocument;
}
