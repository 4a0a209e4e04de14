import { type RouteConfig, route } from "@react-router/dev/routes";
import examplePages from "./example-pages/routes";

export default [
  ...examplePages,
  route("/", "routes/home.tsx", { id: "home", index: true }),
  route("*", "routes/not-found.tsx", { id: "404" }),
] satisfies RouteConfig;
