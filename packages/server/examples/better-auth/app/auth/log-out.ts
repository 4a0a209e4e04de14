import { redirect } from "react-router";
import type { Route } from "./+types/log-out";
import { authContext } from "./context";

export async function action({ request, context }: Route.ActionArgs) {
  const response = await context.get(authContext).signOut({ headers: request.headers, asResponse: true });
  // Also removes private pages that the browser keeps for Back.
  const headers = new Headers({ "Clear-Site-Data": '"cache"' });
  for (const cookie of response.headers.getSetCookie()) headers.append("Set-Cookie", cookie);
  return redirect("/log-in", { status: 303, headers });
}
