import { type ComponentType, useSyncExternalStore } from "react";

let areNeeded = false;
const subscribers = new Set<() => void>();

function subscribe(notify: () => void) {
  subscribers.add(notify);
  return () => subscribers.delete(notify);
}

/** Shows the notifications of `notify()` if their code can't be loaded. */
export let PlainNotifications: ComponentType | undefined;

/** Loads both toast systems, once the page is interactive. A page without toasts never loads them. */
export function needToasters(Plain = PlainNotifications) {
  PlainNotifications = Plain;
  areNeeded = true;
  for (const notify of subscribers) notify();
}

export const useToastersNeeded = () =>
  useSyncExternalStore(
    subscribe,
    () => areNeeded,
    () => false,
  );
