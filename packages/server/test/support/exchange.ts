import { connect } from "node:net";

export type RawResponse = { status: number; headers: Record<string, string>; body: string };

/** How long to wait for the server to close the connection. */
const CLOSE_TIMEOUT_MS = 60_000;

/**
 * Sends bytes (latin1) over a new connection, and reads until the server closes it. Resolves with the responses, and
 * with whether the server closed it. An error of the connection counts as closing. With `isLast`, the client closes its
 * side after the bytes, so that the server doesn't wait for more.
 */
export function exchange(
  url: string,
  bytes: string,
  isLast = false,
): Promise<{ responses: RawResponse[]; isClosed: boolean }> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let text = "";
    const finish = (isClosed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      const responses = text.split(/(?=HTTP\/1\.1 \d{3} )/).filter((part) => part !== "");
      resolve({ responses: responses.map(parseResponse), isClosed });
    };
    const timer = setTimeout(() => finish(false), CLOSE_TIMEOUT_MS);
    socket.setEncoding("latin1");
    socket.on("data", (data) => {
      text += data;
    });
    socket.on("error", () => finish(true));
    socket.on("close", () => finish(true));
    socket.write(bytes, "latin1");
    if (isLast) socket.end();
  });
}

function parseResponse(text: string): RawResponse {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.replace(/^.*?: ?/, "")]);
  return { status: Number(statusLine.split(" ")[1]), headers: Object.fromEntries(headers), body: text.slice(end + 4) };
}
