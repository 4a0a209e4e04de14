import { redirect, redirectDocument, replace } from "react-router";
import type { Route } from "./+types/rename";

/** Redirects to a name, in each way that a route can. */
export function loader({ params, url }: Route.LoaderArgs) {
  const path = `/example-pages/names/${url.searchParams.get("to")}`;
  if (params.how === "redirect") return redirect(path, 303);
  if (params.how === "replace") return replace(path);
  if (params.how === "document") throw redirectDocument(path);
  return new Response(null, { status: 302, headers: { Location: path } });
}
