import { type RouteConfig, route } from "@react-router/dev/routes";

export default [
  route("/", "routes/home.tsx", { id: "home", index: true }),
  route("*", "routes/not-found.tsx", { id: "404" }),
] satisfies RouteConfig;
