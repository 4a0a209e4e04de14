import { createCookie } from "react-router";

/** Holds the number of items in the user's basket. */
export const basketCookie = createCookie("basket", { httpOnly: true });

/** Fails with `?fail`. */
export async function countItems(request: Request) {
  if (new URL(request.url).searchParams.has("fail")) throw new Error("failed on purpose");
  return Number(await basketCookie.parse(request.headers.get("Cookie"))) || 0;
}
