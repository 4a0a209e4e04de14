import type { Config } from "@react-router/dev/config";
import { precompress } from "./server/pages/precompress.ts";

export default {
  // The server build has two entries (vite.config.ts).
  serverBuildFile: "[name].js",
  // The browser gets the whole route list at once: with lazy discovery the server matches every
  // ancestor of an asked path, so one long address would block the process for seconds.
  routeDiscovery: { mode: "initial" },
  future: {
    v8_middleware: true,
    v8_passThroughRequests: true,
    v8_splitRouteModules: true,
    v8_trailingSlashAwareDataRequests: true,
    v8_viteEnvironmentApi: true,
  },
  buildEnd: () => precompress("build/client/assets"),
} satisfies Config;
