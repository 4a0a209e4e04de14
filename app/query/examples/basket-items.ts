import type { ActionFunctionArgs, LoaderFunctionArgs } from "react-router";
import { basketCookie, countItems } from "./basket.server";

export const loader = async ({ request }: LoaderFunctionArgs) => Response.json(await countItems(request));

/** Adds an item. */
export async function action({ request }: ActionFunctionArgs) {
  const count = (await countItems(request)) + 1;
  return Response.json(count, { headers: { "Set-Cookie": await basketCookie.serialize(count) } });
}
