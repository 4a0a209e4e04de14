import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import { hasUnclearFraming, isHost, parseTarget } from "../http/request-target.ts";
import { type Document, sendDocument } from "../pages/documents.ts";
import { READ_METHODS, type Target } from "../pages/route-table.ts";
import { type Exchange, requestIdOf } from "./access-log.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";
import { ASSETS } from "./static-files.ts";

/** More header lines than this are refused: past a limit of its own, Node drops them unseen. */
const MOST_HEADERS = 100;

type Options = {
  find: (path: string) => Target | undefined;
  documents: Map<string, Document>;
  files: Set<string>;
  /** Answers whatever memory can't. */
  application: RequestListener;
};

/** Answers a request from memory where it can, and no framework sees it then; all else goes to the application. */
export function createAnswer({ find, documents, files, application }: Options) {
  return (req: IncomingMessage, res: ServerResponse): Exchange => {
    const { method = "", url = "", headers } = req;
    const requestId = requestIdOf(req);
    const isFlood = req.rawHeaders.length > 2 * MOST_HEADERS;
    const target = isHost(headers.host ?? "") && !hasUnclearFraming(req) ? parseTarget(url) : undefined;
    if (isFlood || !target) {
      refuse(res, isFlood ? 431 : 400, requestId, { Connection: "close" });
      return { requestId, route: "none", path: url };
    }

    const { path, decoded, query } = target;
    const isFile = path.startsWith(ASSETS) || files.has(decoded);
    const route = isFile ? undefined : find(path);
    const exchange = { requestId, route: isFile ? "file" : (route?.id ?? "none"), path };

    const methods = route?.methods ?? READ_METHODS;
    const document = route?.renderOnce && method !== "POST" ? documents.get(route.id) : undefined;
    if (!methods.includes(method)) {
      refuse(res, 405, requestId, { Allow: methods.join(", ") });
    } else if (document) {
      sendDocument(document, req, res, requestId);
    } else {
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
      res.setHeader("X-Request-Id", requestId);
      req.url = path + query;
      headers.host ||= "localhost"; // The adapter makes a URL of it, and HTTP/1.0 may leave it out.
      application(req, res);
    }
    return exchange;
  };
}

function refuse(res: ServerResponse, status: 400 | 405 | 431, requestId: string, headers = {}) {
  const body = `${STATUS_CODES[status]}\n`;
  res
    .writeHead(status, {
      ...SECURITY_HEADERS,
      ...headers,
      "Cache-Control": "no-store",
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Length": body.length,
      "X-Request-Id": requestId,
    })
    .end(body);
}
