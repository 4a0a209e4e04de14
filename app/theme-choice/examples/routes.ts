import { prefix, route } from "@react-router/dev/routes";

export default prefix("/example-pages", [route("theme-choice", "theme-choice/examples/settings.tsx")]);
