/**
 * A source of a Content-Security-Policy (CSP Level 3 §2.3.1): a keyword or a hash in quotes, a scheme or a host.
 * Schemes and hosts have a colon or a dot, unlike `self`.
 */
export const SOURCE =
  /^('(self|unsafe-(inline|eval|hashes)|wasm-unsafe-eval|strict-dynamic|sha(256|384|512)-[\w+/-]+=*)'|\*|[^\s;,'"]*[.:][^\s;,'"]*)$/;

/** Whether the origin of a URL can be a source. */
export function isSourceUrl(url: string) {
  return URL.canParse(url) && SOURCE.test(new URL(url).origin);
}
