import type { ReactNode } from "react";

/** A toast without the styles of toasters.css. */
export function PlainToast({ close, children }: { close: () => void; children: ReactNode }) {
  return (
    <div role="alert" style={{ border: "1px solid", padding: "1rem" }}>
      {children}{" "}
      <button type="button" aria-label="Close" onClick={close}>
        ×
      </button>
    </div>
  );
}
