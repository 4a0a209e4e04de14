import { connect } from "node:net";

export type Answer = { status: number; headers: Record<string, string>; body: string };

/** How long, in ms, to wait for an answer, and for the server to close. */
const PATIENCE = 5000;

/**
 * Sends bytes (latin1) over a connection of their own, and reads until the server closes it.
 * Resolves with the answers, and whether it did close; an error of the connection counts as closing.
 * With `isLast`, it says that no more bytes will come, so that the server needn't wait for any.
 */
export function exchange(
  url: string,
  bytes: string,
  isLast = false,
): Promise<{ answers: Answer[]; isClosed: boolean }> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let text = "";
    const finish = (isClosed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      const answers = text.split(/(?=HTTP\/1\.1 \d{3} )/).filter((part) => part !== "");
      resolve({ answers: answers.map(toAnswer), isClosed });
    };
    const timer = setTimeout(() => finish(false), PATIENCE);
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

function toAnswer(text: string): Answer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.replace(/^.*?: ?/, "")]);
  return { status: Number(statusLine.split(" ")[1]), headers: Object.fromEntries(headers), body: text.slice(end + 4) };
}
