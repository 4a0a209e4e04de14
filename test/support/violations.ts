import type { Page } from "playwright-core";

declare global {
  interface Window {
    /** What the page's policy has reported: the directive and the URL. */
    violations: string[];
  }
}

/** Has the page keep what its policy reports. */
export function keepViolations(page: Page) {
  return page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (event) => {
      window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
}
