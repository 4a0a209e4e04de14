import { Provider as TooltipProvider } from "@radix-ui/react-tooltip";
import { type ReactNode, useEffect, useRef } from "react";
import { isRouteErrorResponse, Links, Meta, Outlet, Scripts, ScrollRestoration, useLocation } from "react-router";
import {
  InlineStyles,
  invalidateCache,
  keepRejectedForms,
  rejectMalformedBodies,
  useNonce,
  useOwnDocument,
} from "react-router-express-server/app";
import type { Route } from "./+types/root";
import css from "./app.css?inline";
import { MessagePage, NotFoundPage } from "./components/message-page";
import { QueryProvider } from "./query/query-provider";
import routes from "./routes";
import { LazyToasters } from "./toast/lazy-toasters";

declare global {
  interface Window {
    /** The list that app/routes.ts exports, for tests and tools. */
    __ROUTES__: Readonly<typeof routes>;
  }
  interface Document {
    /** Not in TypeScript's types yet (https://developer.mozilla.org/docs/Web/API/Document/ariaNotify). */
    ariaNotify?: (announcement: string) => void;
  }
}

if (!import.meta.env.SSR) window.__ROUTES__ = routes;

/** The browser takes the styles from the document, so its bundle has no copy of them. */
const styles = import.meta.env.SSR || import.meta.env.DEV ? css : undefined;

/** The document around every page. It contains its styles, so the first paint needs one request. */
export function Layout({ children }: { children: ReactNode }) {
  const nonce = useNonce();
  const needsOwnDocument = useOwnDocument();
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fdf0ec" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#121645" media="(prefers-color-scheme: dark)" />
        <link rel="icon" href={`${import.meta.env.BASENAME}/favicon.ico`} sizes="32x32" />
        <link rel="icon" href={`${import.meta.env.BASENAME}/icon.svg`} type="image/svg+xml" />
        <link rel="apple-touch-icon" href={`${import.meta.env.BASENAME}/apple-touch-icon.png`} />
        <link rel="manifest" href={`${import.meta.env.BASENAME}/site.webmanifest`} />
        <Meta />
        <Links nonce={nonce} />
        <InlineStyles>{styles}</InlineStyles>
      </head>
      <body>
        <div id="root">
          <QueryProvider>
            <TooltipProvider>
              {needsOwnDocument || children}
              {needsOwnDocument || <LazyToasters />}
            </TooltipProvider>
          </QueryProvider>
        </div>
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
  useNewPage();
  return <Outlet />;
}

/** After a navigation, tells screen readers the title, and moves the focus to the heading, unless an element has it. */
function useNewPage() {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    document.ariaNotify?.(document.title); // Where it is missing, the heading is read alone.
    const heading = document.querySelector("h1");
    if (!heading || document.activeElement !== document.body) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }, [pathname]);
}

/** The page for errors. In development, it shows the stack. */
export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  const status = isRouteErrorResponse(error) ? error.status : 500;
  const text = "Oops! Something went wrong";
  return (
    <>
      <title>{status === 404 ? "Page not found" : text}</title>
      <meta name="robots" content="noindex" />
      {import.meta.env.DEV && error instanceof Error && <pre>{error.stack}</pre>}
      {status === 404 ? <NotFoundPage /> : <MessagePage heading={String(status)} text={text} />}
    </>
  );
}
