import { setTimeout } from "node:timers/promises";
import { afterContext } from "react-router-express-server/app";
import type { Route } from "./+types/after";

const sent: string[] = [];

async function sendReceipt(order: URLSearchParams) {
  await setTimeout(Number(order.get("ms")));
  if (order.has("fails")) throw new Error("no connection");
  sent.push(String(order.get("name")));
}

/** Responds before the receipt is sent. */
export function action({ url, context }: Route.ActionArgs) {
  context.get(afterContext)(() => sendReceipt(url.searchParams));
  return Response.json({ sent });
}

export const loader = () => Response.json({ sent });
