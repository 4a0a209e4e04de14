import { IS_DEVELOPMENT } from "./environment.ts";

declare global {
  // Not in TypeScript's types yet.
  interface Navigator {
    /** https://w3c.github.io/gpc/ */
    globalPrivacyControl?: boolean;
    /** https://wicg.github.io/savedata/ */
    connection?: { saveData?: boolean };
  }
}

/**
 * Sends the web vitals of this visit to the server, unless the browser saves data or sends Global Privacy Control. Their
 * script loads a second after the page, so it delays no paint.
 */
export function sendWebVitals() {
  if (IS_DEVELOPMENT || navigator.globalPrivacyControl || navigator.connection?.saveData) return;
  const { href } = location; // A navigation in the browser starts no new visit.
  const load = () => import("./web-vitals.ts").then((script) => script.measure(href)).catch(() => {});
  addEventListener("load", () => setTimeout(load, 1000));
}
