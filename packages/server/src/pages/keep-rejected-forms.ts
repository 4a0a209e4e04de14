import { type DataStrategyResult, data, isRouteErrorResponse, type MiddlewareFunction, redirect } from "react-router";

/** The server sends these before the action runs: a body over the limit, too many requests, too few resources. */
const REJECTED = [413, 429, 503];
/** The messages of `fetch` without a response, in Chromium, Firefox and Safari. */
const NO_RESPONSE = /^(Failed to fetch|NetworkError|Load failed)/;

/**
 * Root client middleware: a form stays on the page, with what the user has entered, if its action didn't run. Without
 * it, the error page would take the form's place. `show` gets the status; undefined if there is no response.
 */
export const keepRejectedForms =
  (show: (status: number | undefined) => void): MiddlewareFunction<Record<string, DataStrategyResult>> =>
  async ({ request }, next) => {
    const results = await next();
    if (request.method === "GET") return;
    for (const [routeId, { type, result }] of Object.entries(results)) {
      const status = isRouteErrorResponse(result) ? result.status : undefined;
      if (type !== "error" || !(status === undefined ? isWithoutResponse(result) : REJECTED.includes(status))) continue;
      show(status);
      // React Router would show the action's page, without the form, so it stays on the form's page by a redirect.
      // After an error status, it doesn't run the loaders again.
      const isElsewhere = new URL(request.url).pathname !== location.pathname;
      const kept = isElsewhere ? redirect(location.href) : data(undefined, { status: status ?? 503 });
      results[routeId] = { type: "data", result: kept };
    }
  };

/** React Router passes errors on as `data(error)`. */
function isWithoutResponse(result: unknown) {
  const error = (result as { data?: unknown } | undefined)?.data;
  return error instanceof TypeError && NO_RESPONSE.test(error.message);
}
