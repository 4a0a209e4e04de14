import { type ReactNode, useSyncExternalStore } from "react";
import { needToasters } from "./toasters-needed";

// Two toast systems: toast() for the one message that responds to
// an action of the user, and notify() for news that stacks up.

/** A newer toast takes the place of the oldest. */
const MAX_VISIBLE = 1;
/** Until a dismissed toast leaves the store, `update` still finds it. */
const REMOVE_DELAY_MS = 1_000_000;

export type ToastContent = {
  title?: ReactNode;
  description?: ReactNode;
  /** A button. `altText` describes another way, for users who can't reach it in time. */
  action?: { label: string; altText: string; onClick: () => void };
  variant?: "default" | "destructive";
  /** Milliseconds on screen, instead of the default. */
  duration?: number;
};

export type Toast = ToastContent & { id: string; isOpen: boolean };

let toasts: readonly Toast[] = [];
let lastId = 0;
const subscribers = new Set<() => void>();

function setToasts(next: readonly Toast[]) {
  toasts = next;
  for (const notify of subscribers) notify();
}

function subscribe(notify: () => void) {
  subscribers.add(notify);
  return () => subscribers.delete(notify);
}

/** Shows a toast. If the toaster isn't mounted yet, the toast waits. */
export function toast(content: ToastContent) {
  needToasters();
  lastId += 1;
  const id = String(lastId);
  setToasts([{ ...content, id, isOpen: true }, ...toasts].slice(0, MAX_VISIBLE));
  return { id, update: (changes: ToastContent) => updateToast(id, changes), dismiss: () => dismissToast(id) };
}

function updateToast(id: string, changes: ToastContent) {
  setToasts(toasts.map((toast) => (toast.id === id ? { ...toast, ...changes } : toast)));
}

/** Dismisses one toast, or all of them. */
export function dismissToast(id?: string) {
  const dismissed = toasts.filter((toast) => toast.isOpen && (id === undefined || toast.id === id));
  setToasts(toasts.map((toast) => (dismissed.includes(toast) ? { ...toast, isOpen: false } : toast)));
  for (const { id } of dismissed) {
    setTimeout(() => setToasts(toasts.filter((toast) => toast.id !== id)), REMOVE_DELAY_MS);
  }
}

const NO_TOASTS: readonly Toast[] = [];

/** The toasts of the store, and the functions that change them. */
export function useToast() {
  return {
    toasts: useSyncExternalStore(
      subscribe,
      () => toasts,
      () => NO_TOASTS,
    ),
    toast,
    update: updateToast,
    dismiss: dismissToast,
  };
}
