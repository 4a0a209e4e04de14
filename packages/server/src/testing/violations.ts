import type { Page } from "playwright-core";

declare global {
  interface Window {
    /** The violations of the page's policy: the directive and the URL. */
    violations: string[];
  }
}

/** Collects the violations of the page's policy in the page. */
export function keepViolations(page: Page) {
  return page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (event) => {
      window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
}
