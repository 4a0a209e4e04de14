import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";

const ROOT = "/sys/fs/cgroup";
const IS_V2 = existsSync(`${ROOT}/cgroup.controllers`);

/** Makes a cgroup with a limit of memory. Returns nothing if this process may not make one. */
export function createMemoryCgroup(limitBytes: number) {
  const folder = `${ROOT}/${IS_V2 ? "" : "memory/"}greeting-${randomUUID()}`;
  const read = (file: string) => (existsSync(`${folder}/${file}`) ? readFileSync(`${folder}/${file}`, "utf8") : "");
  const remove = () => rmdirSync(folder);
  try {
    if (IS_V2) writeFileSync(`${ROOT}/cgroup.subtree_control`, "+memory");
    mkdirSync(folder);
    writeFileSync(`${folder}/${IS_V2 ? "memory.max" : "memory.limit_in_bytes"}`, String(limitBytes));
    if (existsSync(`${folder}/memory.swap.max`)) writeFileSync(`${folder}/memory.swap.max`, "0");
  } catch {
    if (existsSync(folder)) remove();
    return undefined;
  }
  return {
    /** Runs its arguments as a command inside the cgroup. */
    command: ["sh", "-c", `echo $$ > ${folder}/cgroup.procs && exec "$@"`, "sh"] as const,
    /** Anonymous and kernel memory, in bytes: the kernel can't reclaim it. The page cache isn't counted. */
    readBytes() {
      const fields = [...read("memory.stat").matchAll(/^(?:rss|anon|kernel) (\d+)$/gm)].map(([, bytes]) =>
        Number(bytes),
      );
      return fields.reduce((sum, bytes) => sum + bytes, Number(read("memory.kmem.usage_in_bytes")));
    },
    /** Processes that the kernel killed because the cgroup was full. */
    countKills: () => Number(/^oom_kill (\d+)$/m.exec(read(IS_V2 ? "memory.events" : "memory.oom_control"))?.[1]),
    /** Removes the cgroup. Its processes must have ended. */
    remove,
  };
}
