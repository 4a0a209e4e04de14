import { lazy, Suspense } from "react";
import { useToastersNeeded } from "./toasters-needed";

// If the file can't be loaded, the page still works.
const Toasters = lazy(() => import("./toasters").catch(() => ({ default: () => <></> })));

/** Both toast systems, once one is needed. They then show earlier toasts, too. */
export function LazyToasters() {
  const areNeeded = useToastersNeeded();
  return <Suspense>{areNeeded && <Toasters />}</Suspense>;
}
