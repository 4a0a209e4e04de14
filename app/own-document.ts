import { useEffect, useState } from "react";
import { useMatches } from "react-router";

type Handle = { securityHeaders?: Record<string, string> } | undefined;

/** What the page at hand and its layouts add to the security headers. */
function useAddedHeaders() {
  return useMatches().flatMap(({ handle }) => Object.entries((handle as Handle)?.securityHeaders ?? {}).map(String));
}

/**
 * Whether the page needs a document of its own, which is then loaded: security headers are a document's, and where the
 * browser has only navigated, the document is that of the page it came from.
 */
export function useOwnDocument() {
  const added = useAddedHeaders();
  const [received] = useState(added);
  const isMissing = !added.every((header) => received.includes(header));
  useEffect(() => {
    if (isMissing) location.reload();
  }, [isMissing]);
  return isMissing;
}
