import type { CSSProperties } from "react";
import { Toaster } from "sonner";

/** Notifications on screen at once; the older ones wait in the stack behind them. */
const MOST_VISIBLE = 3;
/** Time on screen, in ms. */
const DURATION = 4000;
const WIDTH = "356px";

/** Shows what `notify()` is called with, also before this was mounted. */
export function Notifications() {
  return (
    <Toaster
      containerAriaLabel="Notifications"
      visibleToasts={MOST_VISIBLE}
      duration={DURATION}
      style={{ "--width": WIDTH } as CSSProperties}
      theme="system"
      closeButton
    />
  );
}
