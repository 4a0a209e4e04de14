import "./toasters.css";
import { AboveDialogs } from "./above-dialogs";
import { Notifications } from "./notifications";
import { Toaster } from "./toaster";

/**
 * Both toast systems and their styles, loaded when a page needs them (lazy-toasters.tsx). Sonner's stylesheet is a
 * file, which the Content-Security-Policy allows; the build removes the <style> that its script inserts
 * (vite-plugin.ts).
 */
export default function Toasters() {
  return (
    <AboveDialogs>
      <Toaster />
      <Notifications />
    </AboveDialogs>
  );
}
