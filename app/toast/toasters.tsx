import "./toasters.css";
import { Notifications } from "./notifications";
import { Toaster } from "./toaster";

/**
 * Both toast systems and the styles of what floats above a page, loaded when a page needs them (lazy-toasters.tsx).
 * Sonner's stylesheet comes with them as a file, which the Content-Security-Policy allows; the
 * copy that its script would insert as a <style> is taken out by the build (vite.config.ts).
 */
export default function Toasters() {
  return (
    <>
      <Toaster />
      <Notifications />
    </>
  );
}
