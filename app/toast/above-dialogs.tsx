import { type ReactNode, useEffect, useState } from "react";
import { createPortal } from "react-dom";

/** An open dialog disables and hides the rest of the page, but no element with `aria-live`. */
function createContainer() {
  const container = document.createElement("div");
  container.style.pointerEvents = "auto";
  container.ariaLive = "off";
  // Radix listens on the document: a press outside closes a dialog, and the focus can't leave it.
  for (const type of ["pointerdown", "focusin", "focusout"]) {
    container.addEventListener(type, (event) => event.stopPropagation());
  }
  return container;
}

/** Renders toasts above dialogs. If the user works with a toast, the dialog stays open. */
export function AboveDialogs({ children }: { children: ReactNode }) {
  const [container] = useState(createContainer);
  useEffect(() => {
    /** If the focus goes from a dialog to a toast, Radix would move it back. */
    const hideTarget = (event: FocusEvent) => {
      const [from, to] = [event.target, event.relatedTarget].map((node) => container.contains(node as Node | null));
      if (to && !from) {
        Object.defineProperty(event, "relatedTarget", { value: null });
      }
    };
    document.body.append(container);
    addEventListener("focusout", hideTarget, true);
    return () => {
      container.remove();
      removeEventListener("focusout", hideTarget, true);
    };
  }, [container]);
  return createPortal(children, container);
}
