import { prefix, route } from "@react-router/dev/routes";

export default prefix("/example-pages", [
  route("toasts", "toast/examples/toasts.tsx"),
  route("toast-form", "toast/examples/form.tsx"),
]);
