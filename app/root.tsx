import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useContext, useEffect, useState } from "react";
import { isRouteErrorResponse, Links, Meta, Outlet, Scripts, ScrollRestoration } from "react-router";
import type { Route } from "./+types/root";
import css from "./app.css?inline";
import { NonceContext } from "./nonce";
import { getQueryClient } from "./query-client";
import routes, { type Routes } from "./routes";
import { TooltipProvider } from "./tooltip";

declare global {
  interface Window {
    /** The route list, as app/routes.ts declares it. */
    __ROUTES__: Routes;
  }
}

if (!import.meta.env.SSR) window.__ROUTES__ = routes;

const Toasters = lazy(() => import("./toasters"));

/** The document around every page, error pages too. Its styles are in it: one request to first paint. */
export function Layout({ children }: { children: ReactNode }) {
  const nonce = useContext(NonceContext);
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <Meta />
        <Links />
        {/* The browser's bundle has no copy of the styles, and keeps the ones that came. */}
        <style
          nonce={nonce}
          dangerouslySetInnerHTML={{ __html: import.meta.env.SSR ? css : "" }}
          suppressHydrationWarning
        />
      </head>
      <body>
        <div id="root">{children}</div>
        <ScrollRestoration />
        <Scripts />
      </body>
    </html>
  );
}

export default function App() {
  const [queryClient] = useState(getQueryClient);
  const [isHydrated, setHydrated] = useState(false);
  useEffect(() => setHydrated(true), []);
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Outlet />
      </TooltipProvider>
      <Suspense>{isHydrated && <Toasters />}</Suspense>
    </QueryClientProvider>
  );
}

/** The page for what a route throws: says what happened, and never why. */
export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const status = isRouteErrorResponse(error) ? error.status : 500;
  return (
    <main>
      <title>{`${status}`}</title>
      <h1>{status}</h1>
      <p>{status === 404 ? "Oops! Page not found" : "Something went wrong"}</p>
      <a href="/">Return to Home</a>
    </main>
  );
}
