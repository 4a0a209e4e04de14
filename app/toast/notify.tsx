import { toast, useSonner } from "sonner";
import { PlainToast } from "./plain-toast";
import { needToasters } from "./toasters-needed";

function PlainNotifications() {
  const { toasts } = useSonner();
  return toasts.map(({ id, title }) => (
    <PlainToast key={id} close={() => toast.dismiss(id)}>
      {typeof title === "function" ? title() : title}
    </PlainToast>
  ));
}

needToasters(PlainNotifications);

/** Sonner's `toast`: adds a notification to the stack. This module also mounts the toaster. */
export const notify = toast;
