import { useEffect } from "react";
import { data, Form, redirect, useNavigation, useRevalidator } from "react-router";
import { queueContext } from "../queue.server";
import type { Route } from "./+types/orders";

const MAX_LENGTH = 100;

export async function action({ request, context }: Route.ActionArgs) {
  const item = String((await request.formData()).get("item") ?? "").trim();
  if (item === "" || item.length > MAX_LENGTH) {
    return data({ error: `Write an article, in at most ${MAX_LENGTH} characters.` }, { status: 400 });
  }
  const id = await context.get(queueContext).send({ item });
  // A reload of the next page orders nothing again.
  return redirect(`/orders?id=${id}`, 303);
}

export async function loader({ url, context }: Route.LoaderArgs) {
  const id = url.searchParams.get("id");
  return { state: id ? await context.get(queueContext).findState(id) : undefined };
}

export const meta: Route.MetaFunction = () => [{ title: "Orders" }];

const TEXTS = {
  created: "Your order is saved, and will be packed soon.",
  retry: "Your order takes longer. We try again.",
  active: "Your order is being packed.",
  completed: "Your order is packed.",
  cancelled: "Your order is cancelled.",
  failed: "Your order could not be packed. Please write to us.",
};
const INTERVAL_MS = 1000;

export default function Orders({ loaderData: { state }, actionData }: Route.ComponentProps) {
  const isSending = useNavigation().state === "submitting";
  const { revalidate } = useRevalidator();
  const isOpen = state === "created" || state === "retry" || state === "active";
  // Without scripts, a reload shows the state.
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(revalidate, INTERVAL_MS);
    return () => clearInterval(timer);
  }, [isOpen, revalidate]);
  return (
    <main>
      <h1>Orders</h1>
      <p role="status">{state && TEXTS[state]}</p>
      <Form method="post">
        <label htmlFor="item">Article</label>
        <input
          id="item"
          name="item"
          required
          maxLength={MAX_LENGTH}
          aria-invalid={actionData?.error !== undefined}
          aria-describedby={actionData?.error && "item-error"}
        />
        {actionData?.error && (
          <p id="item-error" role="alert">
            {actionData.error}
          </p>
        )}
        <div>
          <button type="submit" disabled={isSending}>
            Order
          </button>
        </div>
      </Form>
    </main>
  );
}
