import { useEffect } from "react";
import { useMatches } from "react-router";

type Handle = { securityHeaders?: Record<string, string> } | undefined;

/** What the page that the document was loaded with, and its layouts, add to the security headers. */
let received: string[] | undefined;

/**
 * Whether the page needs a document of its own, which is then loaded: security headers are a document's, and where the
 * browser has only navigated, the document is that of the page it came from.
 */
export function useOwnDocument() {
  const handles = useMatches().map(({ handle }) => handle as Handle);
  const added = handles.flatMap((handle) => Object.entries(handle?.securityHeaders ?? {}).map(String));
  if (!import.meta.env.SSR) received ??= added;
  const isMissing = received !== undefined && !added.every((header) => received?.includes(header));
  useEffect(() => {
    if (isMissing) location.reload();
  }, [isMissing]);
  return isMissing;
}
