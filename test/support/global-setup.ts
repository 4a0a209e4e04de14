import { execFileSync } from "node:child_process";
import { installChromium } from "./chromium.ts";

/** Tests run against the production build, in a real browser: makes the one and finds the other. */
export default function setup() {
  execFileSync("npm", ["run", "build"], { stdio: ["ignore", "ignore", "pipe"] });
  installChromium();
}
