import { prefix, route } from "@react-router/dev/routes";

export default prefix("/example-pages", [route("toasts", "toast/examples/toasts.tsx")]);
