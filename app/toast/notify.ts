import { toast } from "sonner";
import { needToasters } from "./toasters-needed";

needToasters();

/** Sonner's `toast`: adds a notification to the stack. This module also mounts the toaster. */
export const notify = toast;
