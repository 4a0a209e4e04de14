import "./toasters.css";
import { Notifications } from "./notifications";
import { useRedirectToast } from "./redirect-with-toast";
import { Toaster } from "./toaster";

/**
 * Both toast systems and their styles, loaded when a page needs them (lazy-toasters.tsx). Sonner's stylesheet is a
 * file, which the Content-Security-Policy allows; the build removes the <style> that its script inserts
 * (vite-plugin.ts).
 */
export default function Toasters() {
  useRedirectToast();
  return (
    <>
      <Toaster />
      <Notifications />
    </>
  );
}
