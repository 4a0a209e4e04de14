import { redirect } from "react-router";
import type { Route } from "./+types/sign-out";
import { sessionsContext } from "./context";

export async function action({ request, context }: Route.ActionArgs) {
  const { getSession, destroySession } = context.get(sessionsContext);
  const session = await getSession(request.headers.get("Cookie"));
  // Also removes private pages that the browser keeps for Back.
  const headers = { "Set-Cookie": await destroySession(session), "Clear-Site-Data": '"cache"' };
  return redirect("/sign-in", { status: 303, headers });
}
