import type { Plugin, Rolldown } from "vite";

/** The browser's entry and the root route: every page needs what they import. */
const ENTRY = /\/entry\.client\.[cm]?[jt]sx?$/;
const ROOT = /\/app\/root\.[cm]?[jt]sx?\b/;
const PACKAGE = /\/node_modules\//;
/**
 * Hooks that the file of packages always exports, since a page's first use of one would rename this file of 100 KB. They
 * cost 166 bytes (brotli) of a first visit; all hooks would cost 1,203, and with components and helpers 2,140.
 */
const KEPT_HOOKS = [
  "useActionData",
  "useHref",
  "useLoaderData",
  "useLocation",
  "useMatch",
  "useMatches",
  "useNavigate",
  "useNavigation",
  "useOutletContext",
  "useParams",
  "useResolvedPath",
  "useRouteError",
  "useRouteLoaderData",
];

/**
 * Puts the modules that every page needs in two files: those of the site in the root route's, and packages in the
 * browser's entry. Browsers still have the second, large one after a release, unless it changes packages. Without
 * groups, a module would become its own file once a page imports it, too, and the preloads of all pages would change.
 * With the entry's own modules in a file of theirs, a first visit would have three more requests, and 974 bytes more.
 */
export function chunks(): Plugin {
  let siteModules = new Set<string>();
  return {
    name: "react-router-express-server:chunks",
    apply: "build",
    enforce: "post", // React Router sets preserveEntrySignatures, too.
    applyToEnvironment: ({ name }) => name === "client",
    config: () => ({
      environments: {
        client: {
          build: {
            rollupOptions: {
              preserveEntrySignatures: "allow-extension", // Pages import components from the root route's file.
              output: {
                codeSplitting: {
                  groups: [
                    { name: "site", test: (id) => siteModules.has(id), includeDependenciesRecursively: false },
                    { name: "packages", test: (id) => siteModules.has(id) || ENTRY.test(id) },
                  ],
                },
              },
            },
          },
        },
      },
    }),
    transform: {
      filter: { id: ENTRY },
      handler: (code) => ({ code: `${code}\nexport { ${KEPT_HOOKS.join(", ")} } from "react-router";`, map: null }),
    },
    renderStart() {
      const ids = [...this.getModuleIds()];
      const ofEntry = findSiteModules(
        ids.filter((id) => ENTRY.test(id)),
        this,
      );
      const ofRoot = findSiteModules(
        ids.filter((id) => ROOT.test(id)),
        this,
      );
      // The root route's file imports the entry, so the entry must import nothing from it.
      siteModules = new Set([...ofRoot].filter((id) => !ofEntry.has(id)));
    },
  };
}

/** Adds modules and what they import, directly or not, to `found`. Leaves packages out. */
function findSiteModules(
  ids: readonly string[],
  context: { getModuleInfo: Rolldown.GetModuleInfo },
  found = new Set<string>(),
) {
  for (const id of ids) {
    if (PACKAGE.test(id) || found.has(id)) continue;
    found.add(id);
    findSiteModules(context.getModuleInfo(id)?.importedIds ?? [], context, found);
  }
  return found;
}
