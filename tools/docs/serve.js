// Serves the docs site on this machine only. `vitepress preview` would listen on every network interface.
import { preview } from "vite";

const { BASE_PATH = "", PORT } = process.env;
const server = await preview({
  configFile: false,
  root: import.meta.dirname,
  base: `${BASE_PATH}/`,
  appType: "mpa",
  build: { outDir: "build" },
  preview: { host: "127.0.0.1", port: Number(PORT ?? 4173), strictPort: PORT !== undefined },
});
server.printUrls();
