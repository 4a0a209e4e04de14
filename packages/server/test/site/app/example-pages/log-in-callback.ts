import { redirect } from "react-router";
import type { Handle } from "react-router-express-server/app";
import type { Route } from "./+types/log-in-callback";
import { stateCookie } from "./state-cookie";

/** The provider's page sends its response here, as a form (`response_mode=form_post`). */
export const handle = { acceptsCrossOrigin: ["POST"] } satisfies Handle;

export async function action({ request }: Route.ActionArgs) {
  const form = await request.formData();
  const state = await stateCookie.parse(request.headers.get("Cookie"));
  // Otherwise any site could send a form here, and sign its visitors in with an account of its own.
  if (!state || form.get("state") !== state) return new Response(null, { status: 400 });
  // Here, exchange the form's code for the user, and set the session cookie as sign-in/sign-in.tsx does. Then redirect to
  // a page of yours, such as that folder's account.
  return redirect("/example-pages/account", 303);
}
