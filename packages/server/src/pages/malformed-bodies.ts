import { data, type MiddlewareFunction } from "react-router";

/**
 * `request.formData()` and `request.json()` throw a 400 for a body that can't be parsed, which is the client's error.
 * `request.json()` throws a 415 for a form: a form may be larger than JSON, since parsed JSON takes more memory.
 */
export const rejectMalformedBodies: MiddlewareFunction<Response> = ({ request }) => {
  const parseForm = request.formData.bind(request);
  const parseJson = request.json.bind(request);
  const malformed = data(null, { status: 400 });
  request.formData = () => parseForm().catch(() => Promise.reject(malformed));
  request.json = async () => {
    if (/form/i.test(request.headers.get("Content-Type") ?? "")) throw data(null, { status: 415 });
    return parseJson().catch((error) => Promise.reject(error instanceof SyntaxError ? malformed : error));
  };
};
