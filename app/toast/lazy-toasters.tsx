import { lazy, Suspense } from "react";
import { useToastersNeeded } from "./toasters-needed";

const Toasters = lazy(() => import("./toasters"));

/** Both toast systems, from when one is needed. Toasts that were called for until then are shown then. */
export function LazyToasters() {
  const areNeeded = useToastersNeeded();
  return <Suspense>{areNeeded && <Toasters />}</Suspense>;
}
