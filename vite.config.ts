import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { server } from "react-router-express-server/vite";
import { defineConfig } from "vite";
import { withoutToastStyles } from "./app/toast/vite-plugin.ts";

export default defineConfig({
  plugins: [
    tailwindcss(),
    server(),
    withoutToastStyles(), // The policy blocks the styles that it would insert.
    reactRouter(),
  ],
});
