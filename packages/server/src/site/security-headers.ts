import type { AddedHeaders } from "../locals.ts";
import { REPORTS_PATH } from "../pages/reports-path.ts";
import { type Base, ROOT } from "./base-path.ts";
import { contentSecurityPolicy, type InlineSources } from "./content-security-policy.ts";

/**
 * The features that no page may use, unless its route allows them. `unload` would keep pages out of the back/forward
 * cache. Not `bluetooth`: where it is missing, Chromium warns in the console.
 */
const PERMISSIONS = `accelerometer autoplay browsing-topics camera display-capture encrypted-media
  fullscreen gamepad geolocation gyroscope hid identity-credentials-get idle-detection local-fonts
  local-network-access magnetometer microphone midi otp-credentials payment picture-in-picture
  publickey-credentials-create publickey-credentials-get screen-wake-lock serial storage-access unload usb
  window-management xr-spatial-tracking`.split(/\s+/);

/** A member of a Permissions-Policy: a feature and its allowlist. */
const PERMISSION = /^([a-z-]+)=(\*|self|\((?:\*|self|"https?:\/\/[^"\s,;]+"| )*\))$/;
const OPENER_POLICIES = ["same-origin", "same-origin-allow-popups", "noopener-allow-popups", "unsafe-none"];

const CROSS_ORIGIN: Record<string, string> = {
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
};

type Options = {
  /** In development, the policy only reports, to the browser's console. */
  isProduction: boolean;
  /** Is added to the policy of every page. */
  policy?: string;
  base?: Base;
};

/** The security headers of responses. */
export function createSecurityHeaders(strictTransportSecurity: string, options: Options) {
  const { isProduction, policy = "", base = ROOT } = options;
  const reportsPath = base.path + REPORTS_PATH;
  const policyHeader = isProduction ? "Content-Security-Policy" : "Content-Security-Policy-Report-Only";
  const ofAssets: Record<string, string> = {
    // Browsers ignore it without HTTPS (RFC 6797 §8.1).
    "Strict-Transport-Security": strictTransportSecurity,
    "X-Content-Type-Options": "nosniff",
    // Not "no-referrer": browsers would send forms with "Origin: null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
  };
  const defaults: Record<string, string> = {
    ...ofAssets,
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    // Not Origin-Agent-Cluster: it is Chromium's default, and as a header, a first visit waits for another process.
    "Permissions-Policy": permissionsPolicy(""),
    "Reporting-Endpoints": `default="${reportsPath}"`,
  };
  return {
    /** The headers of a release's scripts and styles. The others, 0.8 KB, concern documents only. */
    ofAssets,
    /** The headers of every other response. */
    defaults,
    /** What files add to these, if pages load them from another origin: a CDN that pulls them sends these headers, too. */
    ofFiles: base.assetsOrigin === undefined ? {} : CROSS_ORIGIN,
    /** The headers of a page: those with the additions of its route, and a policy. Throws if an addition is faulty. */
    ofPage(added: AddedHeaders, inline: InlineSources) {
      const headers = { ...defaults };
      const addedPolicy = `${policy}; ${added["Content-Security-Policy"] ?? ""}`;
      headers[policyHeader] = contentSecurityPolicy(inline, addedPolicy, { isProduction, reportsPath });
      for (const [name, value] of Object.entries(added)) {
        if (name === "Permissions-Policy") headers[name] = permissionsPolicy(value);
        else if (name === "Cross-Origin-Opener-Policy" && OPENER_POLICIES.includes(value)) headers[name] = value;
        else if (name !== "Content-Security-Policy") throw new Error(`${name}: ${value} can't be added`);
      }
      return headers;
    },
  };
}

export type SecurityHeaders = ReturnType<typeof createSecurityHeaders>;

/**
 * A Permissions-Policy that denies every feature but those allowed. If a feature is there twice, the last one counts.
 */
function permissionsPolicy(allowed: string) {
  const allowlists = new Map(PERMISSIONS.map((feature) => [feature, "()"]));
  const members = allowed.split(",").map((member) => member.trim());
  for (const member of members.filter(Boolean)) {
    const [, feature = "", allowlist = ""] = PERMISSION.exec(member) ?? [];
    if (!allowlists.has(feature)) throw new Error(`Permissions-Policy: "${member}" is not valid`);
    allowlists.set(feature, allowlist);
  }
  return [...allowlists].map(([feature, allowlist]) => `${feature}=${allowlist}`).join(", ");
}
