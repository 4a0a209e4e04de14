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

/**
 * The policy for a document that is sent more than once: the hashes of the inline elements that carry the nonce which
 * the document was rendered with, and the document without that nonce. What was printed into it carries none.
 */
export function replaceNonce(html: string, nonce: string) {
  const mark = ` nonce="${nonce}"`;
  const hashes = (element: "script" | "style") => {
    const contents = html.matchAll(new RegExp(`<${element}\\b[^>]*${mark}[^>]*>(.*?)</${element}>`, "gs"));
    return [...contents]
      .filter(([, content]) => content)
      .map(([, content = ""]) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`);
  };
  const policy = contentSecurityPolicy({ scripts: hashes("script"), styles: hashes("style") });
  return { html: html.replaceAll(mark, ""), policy };
}
