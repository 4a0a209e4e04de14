import type { RouteConfigEntry } from "@react-router/dev/routes";

export type Routes = readonly Readonly<RouteConfigEntry>[];

// Plain entries, because the browser reads this list too (window.__ROUTES__): the helpers of
// @react-router/dev/routes would bring their package into its bundle.
const routes: RouteConfigEntry[] = [
  { id: "home", path: "/", index: true, file: "routes/home.tsx" },
  { id: "404", path: "*", file: "routes/not-found.tsx" },
];

function freeze(entries: RouteConfigEntry[]): Routes {
  for (const entry of entries) {
    freeze(entry.children ?? []);
    Object.freeze(entry);
  }
  return Object.freeze(entries);
}

export default freeze(routes);
