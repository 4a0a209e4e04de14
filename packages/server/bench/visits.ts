import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { launchChromium } from "react-router-express-server/testing";
import type { ClientRequest } from "./load.ts";

/** Headers of the connection, which the load generator sets. */
const OF_CONNECTION = ["connection", "host"];

/** The requests that Chromium sends, with their headers, on its first visit of a page and on the next one. */
export async function recordVisits(url: string): Promise<{ first: ClientRequest[]; repeat: ClientRequest[] }> {
  let requests: ClientRequest[] = [];
  const forward = (req: IncomingMessage, res: ServerResponse) => {
    const headers = Object.entries(req.headers as Record<string, string>).filter(
      ([name]) => !OF_CONNECTION.includes(name),
    );
    requests.push({ path: req.url as string, headers: Object.fromEntries(headers) });
    const onResponse = (response: IncomingMessage) => {
      res.writeHead(response.statusCode as number, response.headers);
      response.pipe(res);
    };
    request(url + req.url, { headers: req.headers }, onResponse).end();
  };
  const recorder = createServer(forward).listen(0, "127.0.0.1");
  const browser = await launchChromium();
  const context = await browser.newContext();
  const visit = async () => {
    requests = [];
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(recorder.address() as AddressInfo).port}/`, { waitUntil: "networkidle" });
    await page.close();
    return requests;
  };
  const visits = { first: await visit(), repeat: await visit() };
  await browser.close();
  recorder.close();
  return visits;
}
