import { lazy, Suspense, useSyncExternalStore } from "react";

const Toasters = lazy(() => import("./toasters"));

let isNeeded = false;
const subscribers = new Set<() => void>();

/** Has both toast systems loaded, once the page works. A page that shows no toast never loads them. */
export function needToasters() {
  isNeeded = true;
  for (const notify of subscribers) notify();
}

function subscribe(notify: () => void) {
  subscribers.add(notify);
  return () => subscribers.delete(notify);
}

/** Both toast systems, from when one is needed on. What was said until then is shown then. */
export function ToastersOnDemand() {
  const isShown = useSyncExternalStore(
    subscribe,
    () => isNeeded,
    () => false,
  );
  return <Suspense>{isShown && <Toasters />}</Suspense>;
}
