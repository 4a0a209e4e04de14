import { fileURLToPath } from "node:url";

/** The engine's command, which runs React Router's. */
export const COMMAND = fileURLToPath(new URL("../../bin/react-router-express-server.js", import.meta.url));
