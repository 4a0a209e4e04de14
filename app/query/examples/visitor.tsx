import { useQueryClient } from "@tanstack/react-query";
import { Suspense } from "react";
import { Await, useLoaderData, useParams } from "react-router";

export const meta = () => [{ title: "Visitor" }];

export function loader() {
  return { later: new Promise((resolve) => setTimeout(resolve, 300, "later")) };
}

/** Writes the name into the query client, and shows the client's names 0.3 s later. */
export default function Visitor() {
  const { name = "" } = useParams();
  const { later } = useLoaderData<typeof loader>();
  const client = useQueryClient();
  client.setQueryData<string[]>(["names"], (names = []) => [...new Set([...names, name])]);
  return (
    <main>
      <h1>Visitor</h1>
      <Suspense>
        <Await resolve={later}>{() => <p>{client.getQueryData<string[]>(["names"])?.join()}</p>}</Await>
      </Suspense>
    </main>
  );
}
