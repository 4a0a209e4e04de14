import type { FormEvent } from "react";
import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/chat";
import { MAX_LENGTH } from "./message";
import { useChat } from "./use-chat";

/** The page is the same for all users. The messages come later. */
export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const meta: Route.MetaFunction = () => [{ title: "Chat" }];

export default function Chat() {
  const { messages, state, send } = useChat();

  function sendFirst(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    send(String(new FormData(form).get("text")));
    form.reset();
  }

  return (
    <main>
      <h1>Chat</h1>
      <p>All who have this page open see what you write.</p>
      <noscript>
        <p>The chat needs scripts.</p>
      </noscript>
      {/* Screen readers announce new messages. */}
      <ul role="log" aria-label="Messages">
        {messages.map(({ id, time, text }) => (
          <li key={id}>
            <small>
              <time dateTime={time}>{new Date(time).toLocaleTimeString()}</time>
            </small>{" "}
            {text}
          </li>
        ))}
      </ul>
      <form onSubmit={sendFirst}>
        <label htmlFor="text">Message</label>
        <input id="text" name="text" autoComplete="off" maxLength={MAX_LENGTH} required />
        <button type="submit" disabled={state !== "open"}>
          Send
        </button>
      </form>
      <p role="status">{state === "lost" ? "The connection is lost. It comes back by itself." : ""}</p>
    </main>
  );
}
