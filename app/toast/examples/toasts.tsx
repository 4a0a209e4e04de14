import { useEffect } from "react";
import { notify } from "../notify";
import { toast, useToast } from "../toast";

export const meta = () => [{ title: "Toasts" }];

declare global {
  interface Window {
    /** For tests. */
    toasts: Omit<ReturnType<typeof useToast>, "toasts"> & { notify: typeof notify };
  }
}

export default function Toasts() {
  const { toasts, ...store } = useToast();
  useEffect(() => {
    window.toasts = { ...store, notify };
  });
  return (
    <main>
      <h1>Toasts</h1>
      <button type="button" onClick={() => toast({ title: "Saved" })}>
        Save
      </button>
      <button type="button" onClick={() => notify("You will hear of storms")}>
        Subscribe
      </button>
      <output>{toasts.length}</output>
    </main>
  );
}
