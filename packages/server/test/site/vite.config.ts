import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { server } from "react-router-express-server/vite";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [tailwindcss(), server({ externalPackages: ["@node-rs/argon2"] }), reactRouter()],
});
