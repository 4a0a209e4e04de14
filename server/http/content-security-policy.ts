import { createHash } from "node:crypto";

/**
 * The Content-Security-Policy of a page (CSP Level 3) whose inline scripts and styles are those
 * named by the given source expressions, and no others.
 */
export function contentSecurityPolicy({ scripts, styles }: { scripts: string[]; styles: string[] }) {
  return [
    "default-src 'none'",
    `script-src ${["'self'", ...scripts].join(" ")}`,
    `style-src ${["'self'", ...styles].join(" ")}`,
    ...["connect-src", "font-src", "img-src", "manifest-src", "media-src"].map((name) => `${name} 'self'`),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The policy for a document as it stands: the hashes of exactly the inline elements it holds. */
export function policyForDocument(html: string) {
  const hashes = (element: "script" | "style") => {
    const contents = html.matchAll(new RegExp(`<${element}\\b[^>]*>(.+?)</${element}>`, "gs"));
    return [...contents].map(([, content = ""]) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`);
  };
  return contentSecurityPolicy({ scripts: hashes("script"), styles: hashes("style") });
}
