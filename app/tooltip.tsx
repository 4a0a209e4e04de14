import { Content, Portal, Provider, Root, Trigger } from "@radix-ui/react-tooltip";
import type { ReactElement, ReactNode } from "react";

/** Around the whole app, so that moving from one tooltip to the next opens it without delay. */
export { Provider as TooltipProvider };

/** Gives a focusable element a short explanation, on hover and on focus; Escape closes it. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactElement }) {
  return (
    <Root>
      <Trigger asChild>{children}</Trigger>
      <Portal>
        <Content className="tooltip" sideOffset={6}>
          {text}
        </Content>
      </Portal>
    </Root>
  );
}
