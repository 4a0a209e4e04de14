import { createHash } from "node:crypto";

/** On every answer. */
export const SECURITY_HEADERS: Record<string, string> = {
  // Two years, as the preload list asks for; browsers heed it over HTTPS only (RFC 6797 §8.1).
  "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  // Not "no-referrer", with which browsers send forms with "Origin: null", and these are refused.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": [
    ...["accelerometer", "autoplay", "browsing-topics", "camera", "display-capture"],
    ...["encrypted-media", "fullscreen", "gamepad", "geolocation", "gyroscope", "hid"],
    ...["identity-credentials-get", "idle-detection", "local-fonts", "magnetometer", "microphone", "midi"],
    ...["otp-credentials", "payment", "picture-in-picture", "publickey-credentials-create"],
    ...["publickey-credentials-get", "screen-wake-lock", "serial", "storage-access", "usb"],
    ...["window-management", "xr-spatial-tracking"],
  ]
    .map((feature) => `${feature}=()`)
    .join(", "),
};

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
