import type { Route } from "./+types/numbers";
import { loadNumbers } from "./numbers.server";
import { findPeriod } from "./period";

/** What the dashboard fetches again and again. Check here who may see it, as in the dashboard's loader. */
export const loader = async ({ url }: Route.LoaderArgs) =>
  Response.json(await loadNumbers(findPeriod(url.searchParams)));
