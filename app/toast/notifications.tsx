import type { CSSProperties } from "react";
import { Toaster } from "sonner";

/** Above toast()'s message, so that neither covers the other or the page's heading. */
const OFFSET = { bottom: "7rem", right: "1rem" };
/** Like toast()'s message (toasters.css). */
const STYLE = {
  "--border-radius": "0.75rem",
  "--normal-bg": "var(--color-paper)",
  "--normal-text": "var(--color-ink)",
  "--normal-border": "var(--color-ink)",
} as CSSProperties;

/** Shows the notifications of `notify()`, also earlier ones: three at once, each for 4 s. */
export function Notifications() {
  return <Toaster offset={OFFSET} mobileOffset={OFFSET} style={STYLE} theme="system" closeButton />;
}
