import { redirect } from "react-router";
import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/cached-name";

export const headers = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export function loader({ params }: Route.LoaderArgs) {
  if (params.name === "moved") return redirect("/example-pages/names/Zoë", 301);
  if (params.name === "gone")
    return new Response(null, { status: 308, headers: { Location: "/example-pages/names/Zoë" } });
  return null;
}

export { default, meta } from "./name";
