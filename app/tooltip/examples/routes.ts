import { prefix, route } from "@react-router/dev/routes";

export default prefix("/example-pages", [route("tooltips", "tooltip/examples/tooltips.tsx")]);
