import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** The state of a listening socket in /proc/net/tcp. */
const LISTEN = "0A";

/** Says that a port is in use, by which process if the kernel shows it, and what to do. */
export function describePortInUse(port: number, ownPid = process.pid) {
  const pid = findProcess(port);
  if (pid === undefined) return "is in use: set another port";
  if (pid === ownPid) return "is in use by this server: set another port";
  // Not the arguments: some programs get secrets by them.
  const program = basename(attempt(readText, [pid, "cmdline"])?.split("\0", 1)[0] ?? "");
  const folder = attempt(readLink, [pid, "cwd"]);
  const where = program && folder ? ` (${program} in ${folder})` : "";
  return `is in use by process ${pid}${where}: stop it, or set another port`;
}

/** The process that listens on a port. Only Linux has these files, and shows other users' processes to root only. */
function findProcess(port: number) {
  const sockets = ["tcp", "tcp6"].flatMap((table) => {
    const rows = attempt(readText, ["net", table])?.split("\n").slice(1) ?? [];
    const columns = rows.map((row) => row.trim().split(/\s+/));
    const isMeant = ([, address, , state]: string[]) =>
      state === LISTEN && Number.parseInt(address?.split(":")[1] ?? "", 16) === port;
    return columns.filter(isMeant).map(({ 9: inode }) => `socket:[${inode}]`);
  });
  if (sockets.length === 0) return undefined;
  const pids = attempt(readNames, [])?.map(Number).filter(Boolean) ?? [];
  return pids.find((pid) => {
    const descriptors = attempt(readNames, [pid, "fd"]) ?? [];
    return descriptors.some((descriptor) => sockets.includes(attempt(readLink, [pid, "fd", descriptor]) ?? ""));
  });
}

const readText = (path: string) => readFileSync(path, "utf8");
const readNames = (path: string) => readdirSync(path);
const readLink = (path: string) => readlinkSync(path);

/**
 * Reads a path below /proc. A process may end meanwhile, or belong to another user. The path is joined here, since
 * @vercel/nft would take `/proc/…` in the code for files that the build needs (copy-packages.ts).
 */
function attempt<Value>(read: (path: string) => Value, names: (string | number)[]) {
  try {
    return read(["", "proc", ...names].join("/"));
  } catch {
    return undefined;
  }
}
