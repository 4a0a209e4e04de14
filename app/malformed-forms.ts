import { data } from "react-router";
import type { Route } from "./+types/root";

/** Has `request.formData()` throw a 400 for what is no form: it is the client's fault, and no bug to log. */
export const rejectMalformedForms: Route.MiddlewareFunction = ({ request }) => {
  const parse = request.formData.bind(request);
  request.formData = () =>
    parse().catch(() => {
      throw data(null, { status: 400 });
    });
};
