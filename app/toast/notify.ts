import { toast } from "sonner";
import { needToasters } from "./toasters-needed";

needToasters();

/** Sonner's `toast`: adds to the stack of notifications. Import it from here, which has it shown. */
export const notify = toast;
