import { type Agent, get } from "node:http";
import { text } from "node:stream/consumers";

/** What became of a GET for the home page: "answered", or why not. */
export function outcomeOf(url: string, agent: Agent) {
  return new Promise<string>((resolve) => {
    const request = get(url, { agent }, (response) => {
      text(response).then(
        (body) => resolve(body.includes("Hello World</h1>") ? "answered" : `status ${response.statusCode}`),
        () => resolve("cut"),
      );
    });
    request.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}
