import type { Config } from "@react-router/dev/config";
import { serverPreset } from "react-router-express-server/vite";

export default { presets: [serverPreset()] } satisfies Config;
