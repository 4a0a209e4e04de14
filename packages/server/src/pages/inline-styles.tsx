import { IS_DEVELOPMENT, IS_SERVER } from "./environment.ts";
import { STYLE_ID, useNonce } from "./nonce.ts";

/** The nonce in development's policy (site/content-security-policy.ts), also for cached pages. */
const VITE_NONCE = "vite";

/**
 * The styles of the document, so that the first paint needs one request. The browser's bundle needs no copy of them: to
 * render the document again, it takes them from the document.
 */
export function InlineStyles({ children }: { children: string | undefined }) {
  const nonce = useNonce();
  const styles = children ?? (IS_SERVER ? undefined : document.getElementById(STYLE_ID)?.textContent);
  return (
    <>
      {/* Vite's client copies this nonce to the styles that it inserts. */}
      {IS_DEVELOPMENT && <meta property="csp-nonce" nonce={VITE_NONCE} />}
      <style id={STYLE_ID} nonce={IS_DEVELOPMENT ? VITE_NONCE : nonce} suppressHydrationWarning>
        {styles}
      </style>
    </>
  );
}
