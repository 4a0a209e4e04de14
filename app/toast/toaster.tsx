import { Action, Close, Description, Provider, Root, Title, Viewport } from "@radix-ui/react-toast";
import { dismissToast, useToast } from "./toast";

/** The default time on screen. */
const DURATION_MS = 5000;
/** The swipe that dismisses. */
const SWIPE_DIRECTION = "right";
const SWIPE_THRESHOLD_PX = 50;
/** The key that moves the focus to the toasts. */
const HOTKEY = ["F8"];

/** Shows the toasts of `toast()`. */
export function Toaster() {
  const { toasts } = useToast();
  return (
    <Provider
      duration={DURATION_MS}
      swipeDirection={SWIPE_DIRECTION}
      swipeThreshold={SWIPE_THRESHOLD_PX}
      label="Message"
    >
      {toasts.map(({ id, isOpen, title, description, action, variant = "default", duration }) => (
        <Root
          key={id}
          className="toast"
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
      <Viewport className="toast-viewport" hotkey={HOTKEY} label="Messages ({hotkey})" />
    </Provider>
  );
}
