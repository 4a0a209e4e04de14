import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { notify } from "../notify";
import { useToast } from "../toast";
import { Tooltip } from "../tooltip";

export const meta = () => [{ title: "Frame" }];

/** When the query was tried, in ms. */
const attempts: number[] = [];

/** A page for the tests of the frame: everything a page may use, and `window.frame` to call it. */
export default function FramePage() {
  const { toasts, ...store } = useToast();
  const [showsQuery, setShowsQuery] = useState(false);
  useEffect(() => {
    Object.assign(window, { frame: { ...store, notify, attempts } });
  });
  return (
    <main>
      <h1>Frame</h1>
      <output>{toasts.length}</output>
      <Tooltip text="It can be undone">
        <button type="button">Delete</button>
      </Tooltip>
      <button type="button" onClick={() => setShowsQuery(!showsQuery)}>
        Query
      </button>
      {showsQuery && <Query />}
    </main>
  );
}

/** Fails when the address says so, with `?retry=` instead of the default number of retries. */
function Query() {
  const [search] = useSearchParams();
  const retry = search.get("retry");
  const { status } = useQuery({
    queryKey: ["query"],
    queryFn: () => {
      attempts.push(Date.now());
      if (search.has("fail")) throw new Error("failed on purpose");
      return new Promise((resolve) => setTimeout(resolve, 100, "data"));
    },
    ...(retry && { retry: Number(retry) }),
  });
  return <p>Query: {status}</p>;
}
