import type { ReactNode } from "react";
import { isRouteErrorResponse, Links, Meta, Outlet, Scripts, ScrollRestoration } from "react-router";
import {
  InlineStyles,
  invalidateCache,
  keepRejectedForms,
  rejectMalformedBodies,
  useNonce,
  useOrigin,
  useOwnDocument,
} from "react-router-express-server/app";
import type { Route } from "./+types/root";
import css from "./app.css?inline";
import routes from "./routes";

declare global {
  interface Window {
    __ROUTES__: Readonly<typeof routes>;
  }
}

if (!import.meta.env.SSR) window.__ROUTES__ = routes;

const styles = import.meta.env.SSR || import.meta.env.DEV ? css : undefined;

export function Layout({ children }: { children: ReactNode }) {
  const nonce = useNonce();
  const origin = useOrigin();
  const needsOwnDocument = useOwnDocument();
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="/favicon.ico" sizes="32x32" />
        {origin && <link rel="canonical" href={`${origin}/`} />}
        <Meta />
        <Links nonce={nonce} />
        <InlineStyles>{styles}</InlineStyles>
      </head>
      <body>
        <div id="root">{needsOwnDocument || children}</div>
        <ScrollRestoration />
        <Scripts />
      </body>
    </html>
  );
}

export const middleware: Route.MiddlewareFunction[] = [invalidateCache, rejectMalformedBodies];

const TOO_LARGE = "This is too large to be sent. Please shorten the text, or choose a smaller file.";
const NOT_SENT = "This could not be sent. Please try again in a minute.";

export const clientMiddleware: Route.ClientMiddlewareFunction[] = [
  keepRejectedForms((status) => alert(status === 413 ? TOO_LARGE : NOT_SENT)),
];

export default function App() {
  return <Outlet />;
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const status = isRouteErrorResponse(error) ? error.status : 500;
  return (
    <main>
      <title>{String(status)}</title>
      {import.meta.env.DEV && error instanceof Error && <pre>{error.stack}</pre>}
      <h1>{status}</h1>
    </main>
  );
}
