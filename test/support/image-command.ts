import { readFileSync } from "node:fs";

const DOCKERFILE = readFileSync("Dockerfile", "utf8");
const ENV = [...DOCKERFILE.matchAll(/^ENV (.+)$/gm)].map(([, fields]) => fields).join(" ");
const [, ...ENTRYPOINT]: string[] = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(DOCKERFILE)?.[1] ?? "[]");

/** The environment that the image sets, without its `PATH`. */
export const IMAGE_ENV = Object.fromEntries(
  [...ENV.matchAll(/\b(?!PATH=)(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
);

/** The Node flags of the image. Node 20 supports no percentage for the heap, so it gets the same in MiB. */
export function readNodeFlags(memoryMiB: number) {
  const flags = ENTRYPOINT.slice(0, -1);
  if (process.allowedNodeEnvironmentFlags.has("--max-old-space-size-percentage")) return flags;
  return flags.map((flag) =>
    flag.replace(/-percentage=(.+)/, (_, percentage) => `=${Math.ceil((memoryMiB * percentage) / 100)}`),
  );
}
