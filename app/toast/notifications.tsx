import type { CSSProperties } from "react";
import { Toaster } from "sonner";

/** The older notifications wait in the stack behind these. */
const MAX_VISIBLE = 3;
const DURATION_MS = 4000;
/** Above toast()'s message, so that neither covers the other or the page's heading. */
const OFFSET = { bottom: "7rem", right: "1rem" };
/** Like toast()'s message (toasters.css). */
const STYLE = {
  "--width": "356px",
  "--border-radius": "0.75rem",
  "--normal-bg": "var(--color-paper)",
  "--normal-text": "var(--color-ink)",
  "--normal-border": "var(--color-ink)",
} as CSSProperties;

/** Shows the notifications of `notify()`, also earlier ones. */
export function Notifications() {
  return (
    <Toaster
      containerAriaLabel="Notifications"
      position="bottom-right"
      offset={OFFSET}
      mobileOffset={OFFSET}
      visibleToasts={MAX_VISIBLE}
      duration={DURATION_MS}
      style={STYLE}
      theme="system"
      closeButton
    />
  );
}
