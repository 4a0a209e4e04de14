import { lazy, Suspense } from "react";
import { useToastersNeeded } from "./toasters-needed";

// Without them, as after a release that has replaced the file, there is still the page.
const Toasters = lazy(() => import("./toasters").catch(() => ({ default: () => <></> })));

/** Both toast systems, from when one is needed. Toasts that were called for until then are shown then. */
export function LazyToasters() {
  const areNeeded = useToastersNeeded();
  return <Suspense>{areNeeded && <Toasters />}</Suspense>;
}
