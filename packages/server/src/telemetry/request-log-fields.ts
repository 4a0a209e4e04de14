import type { Response } from "express";

/** The fields of every log line of a request. */
export function toLogFields(res: Response) {
  const { requestId, traceId } = res.locals;
  return { "http.request.id": requestId, trace_id: traceId, "http.route": findHttpRoute(res) };
}

/** The pattern of the router or handler in front of the files that has matched, or else of the page or the file. */
export function findHttpRoute({ req, locals }: Response) {
  const { baseUrl = "", matched } = req;
  const isInside = matched?.route && matched.baseUrl.length >= baseUrl.length;
  const [mountPath, path] = isInside ? [matched.baseUrl, String(matched.route?.path)] : [baseUrl, ""];
  // Lower case, since a mount path matches in any case.
  return mountPath.toLowerCase() + path || locals.httpRoute;
}
