import { Content, Portal, Root, Trigger } from "@radix-ui/react-tooltip";
import { type ReactElement, type ReactNode, useState } from "react";
import "./tooltip.css";

/** Gives a focusable element a short explanation, on hover and on focus. Escape closes it. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactElement }) {
  // In the main landmark, for users of screen readers. Found when the tooltip opens: during the render, the document may
  // still have the landmark of the last page.
  const [main, setMain] = useState<Element | null>(null);
  return (
    <Root onOpenChange={() => setMain(document.querySelector("main"))}>
      <Trigger asChild>{children}</Trigger>
      <Portal container={main}>
        <Content className="tooltip" sideOffset={6}>
          {text}
        </Content>
      </Portal>
    </Root>
  );
}
