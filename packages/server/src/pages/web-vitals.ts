import { type Metric, onCLS, onINP, onLCP, onTTFB } from "web-vitals";
import { sendReport } from "./send-report.ts";

/**
 * Sends the values once, when the tab is hidden or closed for the first time. They are final for most visits then. `href`
 * is the URL of the first page.
 */
export function measure(href: string) {
  const values: Record<string, number> = {};
  const keep = ({ name, value }: Metric) => {
    values[name] = value;
  };
  onCLS(keep);
  onINP(keep);
  onLCP(keep);
  onTTFB(keep);
  // Runs after the listeners of web-vitals, which are on `document`.
  addEventListener("visibilitychange", function send() {
    if (!document.hidden) return;
    removeEventListener("visibilitychange", send);
    sendReport("web-vitals", values, href);
  });
}
