import type { RouteConfigEntry } from "@react-router/dev/routes";

// The lines that adding these pages takes in app/routes.ts.
export const routes: RouteConfigEntry[] = [
  { id: "frame", path: "/frame", file: "routes/frame.tsx" },
  { id: "visitor", path: "/visitors/:name", file: "routes/visitor.tsx" },
];
