import { lazy, Suspense } from "react";
import { PlainToasters } from "./plain-toasters";
import { useRedirectToast } from "./redirect-with-toast";
import { PlainNotifications, useToastersNeeded } from "./toasters-needed";

const Toasters = lazy(() =>
  import("./toasters").catch(() => ({ default: () => <PlainToasters Notifications={PlainNotifications} /> })),
);

/** Both toast systems, once one is needed. They then show earlier toasts, too. */
export function LazyToasters() {
  useRedirectToast();
  const areNeeded = useToastersNeeded();
  return <Suspense>{areNeeded && <Toasters />}</Suspense>;
}
