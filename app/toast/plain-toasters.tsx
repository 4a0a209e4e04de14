import type { ComponentType } from "react";
import { PlainToast } from "./plain-toast";
import { useToast } from "./toast";

/** Shows toasts if a tab can't load their code (toasters.tsx): after a release, an old tab's file may be gone. */
export function PlainToasters({ Notifications }: { Notifications: ComponentType | undefined }) {
  const { toasts, dismiss } = useToast();
  return (
    <div
      style={{
        position: "fixed",
        inset: "auto 1rem 1rem auto",
        zIndex: 999_999_999,
        pointerEvents: "auto",
        color: "var(--color-ink)",
        background: "var(--color-paper)",
      }}
    >
      {toasts
        .filter(({ isOpen }) => isOpen)
        .map(({ id, title, description, action }) => (
          <PlainToast key={id} close={() => dismiss(id)}>
            {title} {description}{" "}
            {action && (
              <button
                type="button"
                onClick={() => {
                  action.onClick();
                  dismiss(id);
                }}
              >
                {action.label}
              </button>
            )}
          </PlainToast>
        ))}
      {Notifications && <Notifications />}
    </div>
  );
}
