import { readdirSync, readlinkSync } from "node:fs";
import type { RunningServer } from "./start-server.ts";

/** The files of `public/` that a server has open. */
export function findOpenFiles({ child: { pid } }: RunningServer) {
  const read = (fd: string) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return ""; // Closed meanwhile.
    }
  };
  return readdirSync(`/proc/${pid}/fd`)
    .map(read)
    .filter((path) => path.includes("/build/client/"));
}
