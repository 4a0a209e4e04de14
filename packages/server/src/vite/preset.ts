import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import type { Preset } from "@react-router/dev/config";
import { VARIANT_SUFFIX } from "../http/content-coding.ts";
import { checkBasename } from "../site/base-path.ts";
import { setBasename } from "./basename.ts";
import { setRouteFiles } from "./hook-filters.ts";
import { setPrerender } from "./prerender.ts";

/** For each option with one supported value: that value, and the reason. */
const FIXED_OPTIONS = {
  buildDirectory: [resolve("build"), "the server and the Dockerfile find its files in build/"],
  serverBundles: [undefined, "the server has one bundle"],
  serverModuleFormat: ["esm", "the server is an ES module"],
  ssr: [true, "the server renders every page"],
} as const;

const IS_V7 = createRequire(import.meta.url)("react-router/package.json").version.startsWith("7.");
/** React Router 8 always does what these do, and rejects them. Its types lack them, so they have none here. */
const V8_FLAGS: Record<string, boolean> = {
  v8_middleware: true,
  v8_passThroughRequests: true,
  v8_splitRouteModules: true,
  v8_trailingSlashAwareDataRequests: true,
  v8_viteEnvironmentApi: true,
};

/** Configures React Router for the server, and completes its build. */
export function serverPreset(): Preset {
  return {
    name: "react-router-express-server",
    reactRouterConfig: () => ({
      // The server build has two entries (plugin.ts).
      serverBuildFile: "[name].js",
      // The browser gets all routes at once. With lazy discovery, the server matches every ancestor of a requested
      // path, so one path of 7,000 segments would block the process for seconds (React Router 7.18.6).
      routeDiscovery: { mode: "initial" },
      // Turns React Router's check off: `admit` has checked before, also for resource routes.
      allowedActionOrigins: ["**"],
      future: IS_V7 ? V8_FLAGS : {},
      // Development doesn't load its packages.
      buildEnd: async (args) => (await import("./build-end.ts")).buildEnd(args),
    }),
    reactRouterConfigResolved({ reactRouterConfig }) {
      for (const [name, [supported, reason]] of Object.entries(FIXED_OPTIONS)) {
        const value = reactRouterConfig[name as keyof typeof reactRouterConfig];
        if (value !== supported) throw new Error(`${name} ${JSON.stringify(value)}: ${reason}`);
      }
      checkBasename(reactRouterConfig.basename);
      setBasename(reactRouterConfig.basename);
      setRouteFiles(Object.values(reactRouterConfig.routes).map(({ file }) => file));
      setPrerender(reactRouterConfig.prerender);
      checkPublicFiles();
    },
  };
}

/** Throws if a file in public/ has the name of a file that the build makes. */
function checkPublicFiles() {
  if (!existsSync("public")) return;
  if (existsSync("public/assets")) throw new Error("public/assets/: /assets/ is for files whose names hold a hash");
  const files = readdirSync("public", { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const names = files.map((file) => relative("public", join(file.parentPath, file.name)));
  const variant = names.find((name) => VARIANT_SUFFIX.test(name) && names.includes(name.replace(VARIANT_SUFFIX, "")));
  if (variant) throw new Error(`public/${variant} would be sent as the compressed variant of the file beside it`);
}
