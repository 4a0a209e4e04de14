import { useRef } from "react";
import { useLocation, useNavigation } from "react-router";
import { IS_DEVELOPMENT, IS_SERVER } from "./environment.ts";

/** The entry of `Server-Timing` that names the release of a response with data (entry.server.tsx). */
export const RELEASE_METRIC = "release";

declare global {
  interface Window {
    /** React Router's own. `version` is a hash of the client files. */
    __reactRouterManifest?: { version: string };
  }
}

let isOutdated = false;
let observer: PerformanceObserver | undefined;

function readEntries(entries: PerformanceEntryList) {
  const metrics = (entries as PerformanceResourceTiming[]).flatMap(({ serverTiming }) => serverTiming ?? []);
  const releases = metrics.filter(({ name }) => name === RELEASE_METRIC).map(({ description }) => description);
  isOutdated ||= releases.some((release) => release !== window.__reactRouterManifest?.version);
}

// In development, each edit makes a release.
if (!IS_SERVER && !IS_DEVELOPMENT) {
  observer = new PerformanceObserver((list) => readEntries(list.getEntries()));
  observer.observe({ type: "resource", buffered: true });
  // A file that is gone is of an earlier release.
  addEventListener("vite:preloadError", () => {
    isOutdated = true;
  });
}

/**
 * Whether data came from another release than this tab's code, or a file is gone, and the user has navigated since. The
 * caller then loads the page as a document. If the user sent a form, its result is shown first.
 */
export function useIsOutdated() {
  const { pathname } = useLocation();
  const { state, formMethod } = useNavigation();
  const shown = useRef(pathname);
  const isSubmission = useRef(false);
  readEntries(observer?.takeRecords() ?? []);
  if (state !== "idle") isSubmission.current = formMethod !== undefined && formMethod !== "GET";
  if (!isOutdated || isSubmission.current) shown.current = pathname;
  return pathname !== shown.current;
}
