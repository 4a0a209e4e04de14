/**
 * Percent-encodes the characters of a URL beyond ASCII: a `Location` header has none (RFC 9110 §10.2.2, RFC 3986 §2).
 */
export function encodeLocation(url: string) {
  return url.replace(/\P{ASCII}+/gu, encodeURI);
}
