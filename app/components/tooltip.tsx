import { Content, Portal, Provider, Root, Trigger } from "@radix-ui/react-tooltip";
import type { ReactElement, ReactNode } from "react";
import "./tooltip.css";

/**
 * Gives a focusable element a short explanation, on hover and on focus; Escape closes it. Its provider is in it, and not
 * around all pages, so that only a page with a tooltip loads either.
 */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactElement }) {
  return (
    <Provider>
      <Root>
        <Trigger asChild>{children}</Trigger>
        {/* Inside the landmark, where those who jump from one to the next find it. */}
        <Portal container={import.meta.env.SSR ? null : document.querySelector("main")}>
          <Content className="tooltip" sideOffset={6}>
            {text}
          </Content>
        </Portal>
      </Root>
    </Provider>
  );
}
