/** The flags and the environment of Node for 128 MiB (docs/speed-and-scaling.md), as in a site's Dockerfile. */
export const NODE_ENV = { NODE_ENV: "production", MALLOC_ARENA_MAX: "1" };
const FLAGS = ["--max-old-space-size-percentage=40", "--max-semi-space-size=2", "--no-concurrent-recompilation"];

/** Node 20 supports no percentage for the heap, so it gets the same in MiB. */
export function readNodeFlags(memoryMiB: number) {
  if (process.allowedNodeEnvironmentFlags.has("--max-old-space-size-percentage")) return FLAGS;
  return FLAGS.map((flag) =>
    flag.replace(/-percentage=(.+)/, (_, percentage) => `=${Math.ceil((memoryMiB * percentage) / 100)}`),
  );
}
