import { cpSync, rmSync, writeFileSync } from "node:fs";
import { build } from "./build.ts";
import { copySite } from "./copy-site.ts";

/** Builds a copy of the site with another `server.ts`, and resource routes by path in place of its example pages. */
export async function buildWithRoutes(server: string, routes: Record<string, string>) {
  const folder = copySite();
  cpSync(server, `${folder}/server.ts`);
  rmSync(`${folder}/app/example-pages`, { recursive: true });
  const lines = Object.entries(routes).map(([path, code]) => {
    const file = `routes/${path.split("/")[1]}.ts`;
    writeFileSync(`${folder}/app/${file}`, code);
    return `  route("${path}", "${file}"),\n`;
  });
  writeFileSync(
    `${folder}/app/routes.ts`,
    `import { type RouteConfig, route } from "@react-router/dev/routes";

export default [
  route("/", "routes/home.tsx", { id: "home", index: true }),
${lines.join("")}  route("*", "routes/not-found.tsx", { id: "404" }),
] satisfies RouteConfig;
`,
  );
  await build(folder);
  return folder;
}
