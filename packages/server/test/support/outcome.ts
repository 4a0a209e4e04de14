import { type Agent, get } from "node:http";
import { text } from "node:stream/consumers";

/** The outcome of a GET: "ok" for a complete response with status 200, or what went wrong. */
export function outcomeOf(url: string, agent: Agent) {
  return new Promise<string>((resolve) => {
    const request = get(url, { agent }, (response) => {
      text(response).then(
        () => resolve(response.statusCode === 200 ? "ok" : `status ${response.statusCode}`),
        () => resolve("cut"),
      );
    });
    request.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}
