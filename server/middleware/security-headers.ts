import type { RequestHandler } from "express";

/** What no page may use. */
const PERMISSIONS = `accelerometer autoplay browsing-topics camera display-capture encrypted-media fullscreen gamepad
  geolocation gyroscope hid identity-credentials-get idle-detection local-fonts magnetometer microphone midi otp-credentials
  payment picture-in-picture publickey-credentials-create publickey-credentials-get screen-wake-lock serial storage-access
  usb window-management xr-spatial-tracking`.split(/\s+/);

/** On every response. */
export const SECURITY_HEADERS: Record<string, string> = {
  // Two years, as the preload list asks for; browsers heed it over HTTPS only (RFC 6797 §8.1).
  "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  // Not "no-referrer": browsers then send forms with "Origin: null", which React Router rejects.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": PERMISSIONS.map((feature) => `${feature}=()`).join(", "),
};

export const securityHeaders: RequestHandler = (_req, res, next) => {
  res.set({ ...SECURITY_HEADERS, "X-Request-Id": res.locals.requestId });
  next();
};
