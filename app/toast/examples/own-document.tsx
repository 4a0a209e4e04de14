import type { Handle } from "react-router-express-server/app";

/** The headers of the page before lack it, so browsers load the page as a document. */
export const handle = {
  securityHeaders: { "Content-Security-Policy": "img-src https://example.org" },
} satisfies Handle;

export const meta = () => [{ title: "Preview" }];

export default function ToastOwnDocument() {
  return (
    <main>
      <h1>Preview</h1>
    </main>
  );
}
