import { useEffect, useRef, useState } from "react";
import { MAX_MESSAGES, type Message, SOCKET_PATH } from "./message";

const RETRY_MS = 2000;

/** The messages, and a function that sends one. Connects again after the connection is lost. */
export function useChat() {
  const [messages, setMessages] = useState<Message[]>([]);
  const [state, setState] = useState<"connecting" | "open" | "lost">("connecting");
  const socket = useRef<WebSocket>(undefined);
  useEffect(() => {
    let timer: number | undefined;
    function connect() {
      const opened = new WebSocket(location.origin.replace("http", "ws") + SOCKET_PATH);
      socket.current = opened;
      opened.onopen = () => {
        setMessages([]); // The server sends the last ones.
        setState("open");
      };
      opened.onmessage = ({ data }) => setMessages((all) => [...all, JSON.parse(data)].slice(-MAX_MESSAGES));
      opened.onclose = () => {
        setState("lost");
        // After a restart of the server, all clients don't come at once.
        timer = window.setTimeout(connect, RETRY_MS * (0.5 + Math.random()));
      };
    }
    connect();
    return () => {
      if (socket.current) socket.current.onclose = null;
      socket.current?.close();
      clearTimeout(timer);
    };
  }, []);
  return { messages, state, send: (text: string) => socket.current?.send(text) };
}
