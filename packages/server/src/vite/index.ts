export { type Options, server } from "./plugin.ts";
export { serverPreset } from "./preset.ts";
