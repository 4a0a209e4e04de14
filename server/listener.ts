import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import { requestIdOf } from "./access-log.ts";
import { type Document, sendDocument } from "./documents.ts";
import { ASSETS } from "./files.ts";
import { isHost, parseTarget } from "./request.ts";
import type { Target } from "./routes.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";

type Options = {
  find: (path: string) => Target | undefined;
  documents: Map<string, Document>;
  files: Set<string>;
  /** Answers whatever memory can't. */
  application: RequestListener;
  recordAccess: (req: IncomingMessage, res: ServerResponse, requestId: string, route: string, path: string) => void;
};

/** The public listener: memory first, then the application. No framework sees what memory answers. */
export function createListener({ find, documents, files, application, recordAccess }: Options): RequestListener {
  return (req, res) => {
    const { method = "", url = "", headers } = req;
    const requestId = requestIdOf(req);
    const target = isHost(headers.host ?? "") ? parseTarget(url) : undefined;
    if (!target) {
      recordAccess(req, res, requestId, "none", url);
      return refuse(res, 400, requestId);
    }

    const { path, decoded, query } = target;
    const isFile = path.startsWith(ASSETS) || files.has(decoded);
    const route = isFile ? undefined : find(path);
    recordAccess(req, res, requestId, isFile ? "file" : (route?.id ?? "none"), path);

    const allow = route?.allow ?? "GET, HEAD";
    if (!allow.split(", ").includes(method)) return refuse(res, 405, requestId, { Allow: allow });

    const document = route?.renderOnce && method !== "POST" ? documents.get(route.id) : undefined;
    if (document) return sendDocument(document, req, res, requestId);

    for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
    res.setHeader("X-Request-Id", requestId);
    req.url = path + query;
    headers.host ||= "localhost"; // The adapter makes a URL of it, and HTTP/1.0 may leave it out.
    application(req, res);
  };
}

function refuse(res: ServerResponse, status: 400 | 405, requestId: string, headers = {}) {
  res
    .writeHead(status, {
      ...SECURITY_HEADERS,
      ...headers,
      "Cache-Control": "no-store",
      "Content-Type": "text/plain; charset=utf-8",
      "X-Request-Id": requestId,
    })
    .end(`${STATUS_CODES[status]}\n`);
}
