import type { RouteConfigEntry } from "@react-router/dev/routes";

// The lines that these pages take in app/routes.ts.
export const routes: RouteConfigEntry[] = [
  { id: "about", path: "/about", file: "routes/about.tsx" },
  { id: "note", path: "/notes/:id", file: "routes/note.tsx" },
  { id: "sign-up", path: "/sign-up", file: "routes/sign-up.tsx" },
  { id: "weather", path: "/weather", file: "routes/weather.tsx" },
  { id: "temperature", path: "/temperature", file: "routes/temperature.ts" },
  {
    id: "docs",
    path: "/docs",
    file: "routes/docs.tsx",
    children: [
      { id: "docs-start", index: true, file: "routes/docs-start.tsx" },
      { id: "docs-page", path: "*", file: "routes/docs-page.tsx" },
    ],
  },
  { id: "broken", path: "/broken/:how", file: "routes/broken.tsx" },
  { id: "frame", path: "/frame", file: "routes/frame.tsx" },
  { id: "visitor", path: "/visitors/:name", file: "routes/visitor.tsx" },
];
