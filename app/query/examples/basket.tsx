import {
  dehydrate,
  HydrationBoundary,
  noop,
  QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { type LoaderFunctionArgs, useLoaderData } from "react-router";
import { countItems } from "./basket.server";

export const meta = () => [{ title: "Basket" }];

const itemsQuery = queryOptions({
  queryKey: ["basket", "items"],
  queryFn: async () => (await send("GET")).json() as Promise<number>,
  staleTime: 60_000,
});

/** Rejects if the server responds with an error. */
async function send(method: "GET" | "POST") {
  const response = await fetch(`${import.meta.env.BASENAME}/example-pages/basket-items`, { method });
  if (!response.ok) throw new Error(`${method}: ${response.status}`);
  return response;
}

export async function loader({ request }: LoaderFunctionArgs) {
  const client = new QueryClient();
  await client.query({ ...itemsQuery, queryFn: () => countItems(request) }).catch(noop);
  return dehydrate(client);
}

export default function BasketPage() {
  return (
    <HydrationBoundary state={useLoaderData<typeof loader>()}>
      <main>
        <h1>Basket</h1>
        <Basket />
      </main>
    </HydrationBoundary>
  );
}

function Basket() {
  const client = useQueryClient();
  const { data } = useQuery(itemsQuery);
  const { mutate, isError } = useMutation({
    mutationFn: () => send("POST"),
    onSuccess: () => client.invalidateQueries({ queryKey: itemsQuery.queryKey }),
  });
  return (
    <>
      <p>{`Items: ${data ?? "loading"}`}</p>
      <button type="button" onClick={() => mutate()}>
        Add
      </button>
      {isError && <p role="alert">The item wasn't added.</p>}
    </>
  );
}
