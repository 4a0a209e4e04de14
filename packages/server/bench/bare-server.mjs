// The baseline: node:http that sends given responses, and does nothing else.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const { responses, notFound } = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const response of [notFound, ...Object.values(responses)]) response.body = Buffer.from(response.body, "base64");

const server = createServer((req, res) => {
  const key = req.headers["if-none-match"] ? `${req.url} revalidated` : req.url;
  const { status, headers, body } = responses[key] ?? notFound;
  res.writeHead(status, headers).end(body);
});
server.keepAliveTimeout = 75_000;
server.listen(process.env.PORT, "127.0.0.1");
