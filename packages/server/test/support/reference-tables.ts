// What docs/reference.md says beside the code.

/** The labels whose values aren't in the help of their metric. */
export const LABELS: Record<string, string> = {
  directive: "the directive of the policy, such as `script-src-elem`; empty for other reports",
  error_type: "`aborted` if the connection closed before the end of the response",
  http_request_method: "the method; `_OTHER` for an unknown one",
  http_response_status_code: "the status; empty if no response was sent",
  http_route: "as in the log; empty for a malformed request; `_OTHER` beyond 100 patterns of the site's own routers",
  part: "`loader`, `action` or `render`",
  result: "`hit`, `stale` or `miss`",
  revision: "the commit; `unknown` without `REVISION` at build time",
  setting: "the name of the limit's setting",
  type: "`csp-violation`, `crash`, `deprecation`, `intervention`, `error` (of a page's script) or `other`",
  vital: "`LCP`, `INP` or `TTFB`",
  version: "the version in the site's `package.json`",
};

export const FIELDS = [
  ["Field", "Value"],
  ["`service.version`, `vcs.ref.head.revision`", "the release and its commit, in each line"],
  ["`host.name`, `process.pid`", "the pod, container or machine, and the process, in each line"],
  [
    "`http.request.id`",
    "the client's `X-Request-Id`, or a new id. Private responses and errors send it in that header",
  ],
  ["`trace_id`", "the trace of the client's `traceparent`"],
  ["`http.route`", "the route's pattern, such as `/posts/:id`; `file` for `public/` and `/assets/`"],
  ["`url.path`", "as sent, without the query; at most 256 characters, as `user_agent.original`"],
  ["`http.response.status_code`", "missing if no response was sent"],
  ["`http.server.request.duration`", "seconds from the request's head to the end of the response"],
  ["`slowest_part`", "from 1 s on: the slowest loader, action or render, such as `loader routes/shop 8012 ms`"],
  ["`client.address`", "the client's address, as the proxies of `TRUST_PROXY` send it"],
  ["`error.type`", "`aborted`, or the parser's error code"],
  ["`exception.stacktrace`", "the stack, with causes and properties"],
  ["`browser.release`", "the release of the page's code"],
  ["`csp.directive`, `csp.blocked`", "what the policy blocked. Browsers report that over HTTPS only"],
  ["`file`, `reason`", "of a cache warning: the route's file, and why its response isn't cached"],
];

export const OPERATORS_PATHS = [
  ["Request", "Response"],
  [
    "`GET /`",
    "a page about the process, as text for `curl`: state, limits, last errors, routes, cache entries, a purge",
  ],
  ["`GET /livez`", "200 while the process responds"],
  ["`GET /readyz`", "200, or 503 at startup, until each service has been ready once, and during the shutdown"],
  ["`GET /metrics`", "the [metrics](#metrics), for Prometheus"],
  ["`GET /cache`", "the cache entries by route: number, bytes, age, lookups, hit rate"],
  ["`GET /cache?path=/PATH`", "the cache entries of a page: age, groups, size, and why its last render failed"],
  ["`POST /cache/invalidate`", "a [purge](#purge)"],
];

export const PURGES = [
  ["Query", "Invalidates"],
  ["`group=NAME`", "a [cache group](caching.md#show-an-edit-at-once)"],
  ["`path=/PATH`", "a page and its data, with every query. If no page has the path: 404"],
  ["`prefix=/PATH/`", "every path that begins so, in any case"],
  ["`all`", "all"],
];
