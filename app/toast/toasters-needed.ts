import { useEffect, useSyncExternalStore } from "react";
import { useLocation } from "react-router";

/** Holds the toast with which an action redirects (redirect-with-toast.ts). */
export const TOAST_COOKIE = "__Host-toast";

let areNeeded = false;
const subscribers = new Set<() => void>();

function subscribe(notify: () => void) {
  subscribers.add(notify);
  return () => subscribers.delete(notify);
}

/** Loads both toast systems, once the page is interactive. A page without toasts never loads them. */
export function needToasters() {
  areNeeded = true;
  for (const notify of subscribers) notify();
}

export function useToastersNeeded() {
  const location = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: A navigation may set the cookie.
  useEffect(() => {
    if (document.cookie.includes(TOAST_COOKIE)) needToasters();
  }, [location]);
  return useSyncExternalStore(
    subscribe,
    () => areNeeded,
    () => false,
  );
}
