import { Action, Close, Description, Provider, Root, Title, Viewport } from "@radix-ui/react-toast";
import { dismissToast, useToast } from "./toast";

/** Shows the toasts of `toast()`, each for 5 s. A swipe to the right dismisses it, and F8 moves the focus to it. */
export function Toaster() {
  const { toasts } = useToast();
  return (
    <Provider label="Message">
      {toasts.map(({ id, isOpen, title, description, action, variant = "default", duration }) => (
        <Root
          key={id}
          className="toast"
          style={{ pointerEvents: "auto" }} // Otherwise, a dialog that opens later disables it.
          data-variant={variant}
          open={isOpen}
          onOpenChange={(open) => {
            if (!open) dismissToast(id);
          }}
          {...(duration !== undefined && { duration })}
        >
          {title && <Title className="toast-title">{title}</Title>}
          {description && <Description>{description}</Description>}
          {action && (
            <Action altText={action.altText} onClick={action.onClick}>
              {action.label}
            </Action>
          )}
          <Close aria-label="Close">×</Close>
        </Root>
      ))}
      <Viewport className="toast-viewport" label="Messages ({hotkey})" />
    </Provider>
  );
}
