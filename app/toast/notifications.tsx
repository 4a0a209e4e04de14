import type { CSSProperties } from "react";
import { Toaster } from "sonner";

/** The older notifications wait in the stack behind these. */
const MAX_VISIBLE = 3;
const DURATION_MS = 4000;
const WIDTH = "356px";

/** Shows the notifications of `notify()`, also earlier ones. */
export function Notifications() {
  return (
    <Toaster
      containerAriaLabel="Notifications"
      // toast()'s message is at the bottom: neither covers the other.
      position="top-right"
      visibleToasts={MAX_VISIBLE}
      duration={DURATION_MS}
      style={{ "--width": WIDTH } as CSSProperties}
      theme="system"
      closeButton
    />
  );
}
