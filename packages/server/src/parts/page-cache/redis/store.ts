import { randomUUID } from "node:crypto";
import { createClient, RESP_TYPES } from "@redis/client";
import { type Bodies, copyBytes } from "../../../http/stored-response.ts";
import type { PageStore, SharedPage, Turn } from "../page-store.ts";
import * as scripts from "./scripts.ts";

/** A turn ends this long after its process has hung or ended. */
const TURN_MS = 3000;
const EXTEND_INTERVAL_MS = 1000;
const RETRY_INTERVAL_MS = 500;
const PING_INTERVAL_MS = 2000;
/** Less than the pause after a failure (shared-pages.ts), since each question on a lost connection postpones it. */
const TIMEOUT_MS = 4000;
const MAX_QUESTIONS = 1000;

/** Shares cached pages in Redis. `prefix` is that of all keys. */
export function createPageStore(url: string, prefix: string): PageStore {
  const client = createClient({
    url,
    pingInterval: PING_INTERVAL_MS,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUESTIONS,
    socket: { connectTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS, reconnectStrategy: RETRY_INTERVAL_MS },
    scripts,
    // Each question has a timeout in shared-pages.ts. By default, the client adds an `AbortSignal.timeout`.
    commandOptions: { timeout: 0, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  });
  client.on("error", () => {}); // Each question rejects. Without a listener, errors would also end the process.

  const toKeys = (key: string) => [`${prefix}page ${key}`, `${prefix}turn ${key}`, `${prefix}epoch`];
  const tagPrefix = `${prefix}tag `;

  /** `seen` are the epoch and the time at which the turn begins. */
  function createTurn(keys: string[], token: string, seen: string[]): Turn {
    const extend = () => client.extendTurn(keys, [tagPrefix, token, String(TURN_MS)]).catch(() => {});
    const extending = setInterval(extend, EXTEND_INTERVAL_MS);
    let hasEnded = false;
    return {
      async store(page, { tags, age, fresh, kept }) {
        const version = randomUUID();
        const milliseconds = [age, fresh, kept].map((ms) => String(Math.floor(ms)));
        const { bodies, ...head } = page;
        const lengths = Object.entries(bodies).map(([coding, { length }]) => [coding, length]);
        const fields = [JSON.stringify({ ...head, lengths }), Buffer.concat(Object.values(bodies))];
        const args = [tagPrefix, token, ...seen, version, ...milliseconds, JSON.stringify(tags), ...fields];
        const { result, epoch, now } = await client.store(keys, args);
        if (result === "invalidated") seen = [String(epoch), String(now)]; // For the next render in this turn.
        return result === "stored" ? { version } : result;
      },
      end({ isRemoved } = { isRemoved: false }) {
        if (hasEnded) return;
        hasEnded = true;
        clearInterval(extending);
        client.endTurn(keys, [tagPrefix, token, isRemoved ? "remove" : ""]).catch(() => {});
      },
    };
  }

  return {
    connect: () => client.connect(),
    async lookUp(key, { version: known = "", wantsTurn }) {
      const token = wantsTurn ? randomUUID() : "";
      const keys = toKeys(key);
      const args = [tagPrefix, known, token, String(TURN_MS)];
      const { version, head, bodies, age, isFresh, epoch, now } = await client.lookUp(keys, args);
      return {
        version: version ? String(version) : undefined,
        page: head && bodies ? toPage(head, bodies) : undefined,
        age,
        isFresh,
        turn: epoch ? createTurn(keys, token, [String(epoch), String(now)]) : undefined,
      };
    },
  };
}

/** Copies the bodies into one block of memory. As parts of the reply, they would keep all of it in memory. */
function toPage(head: Buffer, bytes: Buffer): SharedPage {
  const page = JSON.parse(String(head)) as Omit<SharedPage, "bodies"> & { lengths: [string, number][] };
  const all = copyBytes(bytes);
  const bodies: Record<string, Buffer> = {};
  let start = 0;
  for (const [coding, length] of page.lengths) {
    bodies[coding] = all.subarray(start, start + length);
    start += length;
  }
  if (start !== all.length) throw new Error("a page whose bodies aren't complete");
  return Object.assign(page, { bodies: bodies as Bodies });
}
