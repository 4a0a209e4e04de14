import { data } from "react-router";
import type { Route } from "./+types/root";

/** Has `request.formData()` and `request.json()` throw a 400 for a body that can't be parsed: the client's error. */
export const rejectMalformedBodies: Route.MiddlewareFunction = ({ request }) => {
  const parseForm = request.formData.bind(request);
  const parseJson = request.json.bind(request);
  const malformed = data(null, { status: 400 });
  request.formData = () => parseForm().catch(() => Promise.reject(malformed));
  request.json = () => parseJson().catch((error) => Promise.reject(error instanceof SyntaxError ? malformed : error));
};
