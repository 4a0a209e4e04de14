import type { Plugin } from "vite";

/** React Router's plugins that provide modules of their own. */
const OF_VIRTUAL_MODULES = [
  "react-router:virtual-modules",
  "react-router:inject-hmr-runtime",
  "react-router:hmr-runtime",
];
/** React Router's plugins that transform modules of the site, and `.client` modules of packages. */
const OF_SITE_MODULES = [
  "react-router",
  "react-router:route-chunks-index",
  "react-router:build-client-route",
  "react-router:split-route-modules",
  "react-router:dot-client",
  "react-router:route-exports",
  "react-router:react-refresh-babel",
];
const PACKAGE = /\/node_modules\/(?!.*\.client\b)/;

let hasRouteInPackage = false;

/** For the preset: Vite's plugins have no other way to React Router's config. */
export function setRouteFiles(files: string[]) {
  hasRouteInPackage = files.some((file) => file.includes("node_modules"));
}

/**
 * Adds filters to React Router's hooks, since Rolldown would call each for every module of every package, about 14,000
 * times. Needed until https://github.com/remix-run/react-router/pull/15476.
 */
export function hookFilters(): Plugin {
  return {
    name: "react-router-express-server:hook-filters",
    apply: "build",
    configResolved({ plugins }) {
      for (const plugin of plugins) {
        if (OF_VIRTUAL_MODULES.includes(plugin.name)) {
          addFilter(plugin, "resolveId", { id: /^virtual:react-router\// });
          addFilter(plugin, "load", { id: /^\0virtual:react-router\// });
        }
        if (OF_SITE_MODULES.includes(plugin.name) && !hasRouteInPackage) {
          addFilter(plugin, "transform", { id: { exclude: PACKAGE } });
        }
      }
    },
  };
}

/** Keeps the filter that a hook has. */
function addFilter(plugin: Plugin, hook: "resolveId" | "load" | "transform", filter: object) {
  const handler = plugin[hook];
  if (typeof handler === "function") Object.assign(plugin, { [hook]: { filter, handler } });
}
