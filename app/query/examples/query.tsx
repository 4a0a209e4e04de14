import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";

export const meta = () => [{ title: "Query" }];

declare global {
  interface Window {
    /** When the query was tried, in ms. */
    attempts?: number[];
  }
}

export default function QueryPage() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <main>
      <h1>Query</h1>
      <button type="button" onClick={() => setIsOpen(!isOpen)}>
        Query
      </button>
      {isOpen && <Query />}
    </main>
  );
}

/** Fails with `?fail`. `?retry=` replaces the default number of retries. */
function Query() {
  const [search] = useSearchParams();
  const retry = search.get("retry");
  const { status } = useQuery({
    queryKey: ["query"],
    queryFn: () => {
      window.attempts = [...(window.attempts ?? []), Date.now()];
      if (search.has("fail")) throw new Error("failed on purpose");
      return new Promise((resolve) => setTimeout(resolve, 100, "data"));
    },
    ...(retry && { retry: Number(retry) }),
  });
  return <p>Query: {status}</p>;
}
