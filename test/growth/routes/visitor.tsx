import { useQueryClient } from "@tanstack/react-query";
import { Suspense } from "react";
import { Await } from "react-router";
import type { Route } from "./+types/visitor";

export function loader() {
  return { later: new Promise((resolve) => setTimeout(resolve, 300, "later")) };
}

/** Writes into the query client, and shows 0.3 s later what it then holds: one name, if it is its own. */
export default function Visitor({ params, loaderData }: Route.ComponentProps) {
  const client = useQueryClient();
  client.setQueryData<string[]>(["names"], (names = []) => [...new Set([...names, params.name])]);
  return (
    <Suspense>
      <Await resolve={loaderData.later}>{() => <p>{client.getQueryData<string[]>(["names"])?.join()}</p>}</Await>
    </Suspense>
  );
}
