import { existsSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";

const MIB = 1024 * 1024;
/** The memory of the container that the limits are for. */
const MEMORY = 128 * MIB;
/** Node and a small site take this much. Below 128 MiB, only the memory beyond this counts for the limits. */
const BASE_MEMORY = 44 * MIB;
const MIN_SHARE = 1 / 16;

/**
 * The memory budget at 128 MiB. All limits together would take about 128 MiB, but an attack reaches one or two of
 * them. `test/limits.long.ts` tests each.
 */
const LIMITS_AT_128_MIB = {
  /** An idle one takes 12 KiB. */
  MAX_CONNECTIONS: 1024,
  /** A page of 20 KB takes up to 200 KiB while it is rendered. */
  MAX_CONCURRENT_REQUESTS: 128,
  /** An event stream takes 60 to 100 KiB, and so does a file that is read from disk. */
  MAX_OPEN_RESPONSES: 128,
  /** The weight of request bodies: hold-slot.ts. */
  MAX_BODY_MEMORY_BYTES: 12 * MIB,
  /** An encoder takes up to 1.1 MiB. */
  MAX_ENCODERS: 8,
  PAGE_CACHE_MAX_BYTES: 8 * MIB,
  /** The files of `public/` and `/assets/`. Other files stay on disk. */
  STATIC_FILES_MAX_BYTES: 8 * MIB,
  LOG_BUFFER_BYTES: MIB,
};

/** The open files that connections leave for services. */
const RESERVED_FILES = 256;

export type LimitName = keyof typeof LIMITS_AT_128_MIB;
export type Limits = Record<LimitName, number>;

/** The memory limit of the process in bytes, or else the machine's memory, at most 2 GiB. */
function findMemoryLimit() {
  const constrained = process.constrainedMemory() ?? 0;
  const total = totalmem();
  return constrained > 0 && constrained < total ? constrained : Math.min(total, 2048 * MIB);
}

/** The most files and sockets that the process may open. Linux has the limit in /proc. */
function findMaxOpenFiles() {
  const limits = existsSync("/proc/self/limits") ? readFileSync("/proc/self/limits", "utf8") : "";
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** The limits for the memory, unless the operator sets them. All connections leave files for streams and services. */
export function createLimits(
  settings: Partial<Record<LimitName, number | undefined>>,
  memory = findMemoryLimit(),
  maxOpenFiles = findMaxOpenFiles(),
) {
  const share = Math.min(memory / MEMORY, (memory - BASE_MEMORY) / (MEMORY - BASE_MEMORY));
  const entries = Object.entries(LIMITS_AT_128_MIB).map(([name, limit]) => [
    name,
    settings[name as LimitName] ?? Math.round(limit * Math.max(share, MIN_SHARE)),
  ]);
  const limits: Limits = Object.fromEntries(entries);
  const reserved = RESERVED_FILES + limits.MAX_OPEN_RESPONSES;
  const maxConnections = Math.floor(Math.max(maxOpenFiles - reserved, maxOpenFiles / 2));
  return { ...limits, MAX_CONNECTIONS: Math.min(limits.MAX_CONNECTIONS, maxConnections) };
}
