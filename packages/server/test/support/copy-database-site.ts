import { cpSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { copySite } from "./copy-site.ts";

const EXAMPLE = fileURLToPath(new URL("../database", import.meta.url));

/** Copies the site, with the pages and services of the database example instead of the example pages. */
export function copyDatabaseSite() {
  const folder = copySite();
  cpSync(`${EXAMPLE}/server.ts`, `${folder}/server.ts`);
  for (const file of ["users.tsx", "events.tsx", "event.tsx"])
    cpSync(`${EXAMPLE}/${file}`, `${folder}/app/routes/${file}`);
  cpSync(`${EXAMPLE}/context.ts`, `${folder}/app/context.ts`);
  rmSync(`${folder}/app/example-pages`, { recursive: true });
  writeFileSync(
    `${folder}/app/routes.ts`,
    `import { type RouteConfig, route } from "@react-router/dev/routes";

export default [
  route("/", "routes/home.tsx", { id: "home", index: true }),
  route("/users", "routes/users.tsx"),
  route("/events", "routes/events.tsx"),
  route("/events/:slug", "routes/event.tsx"),
  route("*", "routes/not-found.tsx", { id: "404" }),
] satisfies RouteConfig;
`,
  );
  return folder;
}
