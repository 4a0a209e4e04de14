// For the tests of a site and of the engine, against a production build.
export { installChromium, launchChromium } from "./chromium.ts";
export { createTest, NOT_FOUND_MESSAGES, open } from "./fixtures.ts";
export { findFreePort } from "./free-port.ts";
export { loadApp } from "./load-app.ts";
export {
  type Command,
  type RunningServer,
  type ServerProcess,
  serverEnvironment,
  spawnServer,
  startServer,
} from "./start-server.ts";
export { keepViolations } from "./violations.ts";
