import { useSyncExternalStore } from "react";

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
  return useSyncExternalStore(
    subscribe,
    () => areNeeded,
    () => false,
  );
}
