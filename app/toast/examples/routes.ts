import { prefix, route } from "@react-router/dev/routes";

export default prefix("/example-pages", [
  route("toasts", "toast/examples/toasts.tsx"),
  route("toast-dialogs", "toast/examples/dialogs.tsx"),
  route("toast-form", "toast/examples/form.tsx"),
  route("toast-redirect", "toast/examples/redirect.tsx"),
  route("toast-cached", "toast/examples/cached.tsx"),
  route("toast-own-document", "toast/examples/own-document.tsx"),
]);
