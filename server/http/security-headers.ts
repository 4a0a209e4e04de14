/** What no page may use. */
const PERMISSIONS = `accelerometer autoplay browsing-topics camera display-capture encrypted-media fullscreen gamepad
  geolocation gyroscope hid identity-credentials-get idle-detection local-fonts magnetometer microphone midi otp-credentials
  payment picture-in-picture publickey-credentials-create publickey-credentials-get screen-wake-lock serial storage-access
  usb window-management xr-spatial-tracking`.split(/\s+/);

/** The headers of every response; browsers heed Strict-Transport-Security over HTTPS only (RFC 6797 §8.1). */
export function createSecurityHeaders(strictTransportSecurity: string): Record<string, string> {
  return {
    "Strict-Transport-Security": strictTransportSecurity,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    // Not "no-referrer": browsers then send forms with "Origin: null", which is no trusted origin.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": PERMISSIONS.map((feature) => `${feature}=()`).join(", "),
  };
}
