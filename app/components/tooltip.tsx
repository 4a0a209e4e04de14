import { Content, Portal, Root, Trigger } from "@radix-ui/react-tooltip";
import { type ReactElement, type ReactNode, useState } from "react";
import "./tooltip.css";

/** Gives a focusable element a short explanation, on hover and on focus. Escape closes it. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactElement }) {
  // Inside the landmark, where those who jump from one to the next find it: of the page as it is when the tooltip opens,
  // since while this is rendered the browser may still show the page before.
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
