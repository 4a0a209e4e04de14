import { data, redirect } from "react-router";
import type { Route } from "./+types/choose-language";
import { CHOICES } from "./languages";

const YEAR_S = 365 * 24 * 60 * 60;

export async function action({ request, url }: Route.ActionArgs) {
  const form = await request.formData();
  const choice = CHOICES.find((known) => known === form.get("language"));
  if (!choice) throw data(null, { status: 400 });
  // Not by `createCookie`, which encodes values: those of `handle.variants` are plain.
  const path = `${import.meta.env.BASENAME}/`;
  const headers = { "Set-Cookie": `language=${choice}; Path=${path}; Max-Age=${YEAR_S}; SameSite=Lax` };
  return redirect(findNext(String(form.get("next")), url), { status: 303, headers });
}

/** The page that has the form. Another site may send a form with another address. */
function findNext(next: string, url: URL) {
  if (!next.startsWith("/") || !URL.canParse(next, url)) return "/";
  const { origin, pathname, search } = new URL(next, url);
  return origin === url.origin && !pathname.startsWith("//") ? pathname + search : "/";
}
