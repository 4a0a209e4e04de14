import { randomUUID } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { createClient, RESP_TYPES } from "@redis/client";
import { copyBytes } from "../../../http/stored-response.ts";
import type { PageStore, SharedPage, Turn } from "../page-store.ts";
import { END_TURN, EXTEND_TURN, LOOK_UP, STORE } from "./scripts.ts";

/** A turn ends this long after its process has hung or ended. */
const TURN_MS = 3000;
const EXTEND_INTERVAL_MS = 1000;
const RETRY_INTERVAL_MS = 500;
const PING_INTERVAL_MS = 2000;
/** Less than the pause after a failure (shared-pages.ts), since each question on a lost connection postpones it. */
const TIMEOUT_MS = 4000;
const MAX_QUESTIONS = 1000;

type Reply = [version: Buffer | null, page: Buffer | null, age: number, isFresh: number, epoch: Buffer, now: Buffer];
type Stored = [result: Buffer, epoch: Buffer, now: Buffer];

/** Shares cached pages in Redis. `prefix` is that of all keys. */
export function createPageStore(url: string, prefix: string): PageStore {
  const client = createClient({
    url,
    pingInterval: PING_INTERVAL_MS,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUESTIONS,
    socket: { connectTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS, reconnectStrategy: RETRY_INTERVAL_MS },
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  });
  client.on("error", () => {}); // Each question rejects. Without a listener, errors would also end the process.

  async function run<Result>(script: string, key: string, args: (string | Buffer)[]) {
    const keys = [`${prefix}page ${key}`, `${prefix}turn ${key}`, `${prefix}epoch`];
    return (await client.eval(script, { keys, arguments: [`${prefix}tag `, ...args] })) as unknown as Result;
  }

  function createTurn(key: string, token: string, [, , , , firstEpoch, startedAt]: Reply): Turn {
    let seen = [String(firstEpoch), String(startedAt)];
    const extend = () => run(EXTEND_TURN, key, [token, String(TURN_MS)]).catch(() => {});
    const extending = setInterval(extend, EXTEND_INTERVAL_MS);
    let hasEnded = false;
    return {
      async store(page, { tags, age, fresh, kept }) {
        const version = randomUUID();
        const milliseconds = [age, fresh, kept].map((ms) => String(Math.floor(ms)));
        const bytes = serialize(page);
        const args = [token, ...seen, version, ...milliseconds, JSON.stringify(tags), bytes];
        const [result, epoch, now] = await run<Stored>(STORE, key, args);
        if (String(result) === "lost") return "lost";
        seen = [String(epoch), String(now)]; // For the next render in this turn.
        return String(result) === "stored" ? { version } : "invalidated";
      },
      end({ isRemoved } = { isRemoved: false }) {
        if (hasEnded) return;
        hasEnded = true;
        clearInterval(extending);
        run(END_TURN, key, [token, isRemoved ? "remove" : ""]).catch(() => {});
      },
    };
  }

  return {
    connect: () => client.connect(),
    async lookUp(key, { version: known = "", wantsTurn }) {
      const token = wantsTurn ? randomUUID() : "";
      const reply = await run<Reply>(LOOK_UP, key, [known, token, String(TURN_MS)]);
      const [version, page, age, isFresh, epoch] = reply;
      return {
        version: version ? String(version) : undefined,
        page: page ? toPage(page) : undefined,
        age,
        isFresh: isFresh === 1,
        turn: epoch ? createTurn(key, token, reply) : undefined,
      };
    },
  };
}

/** The bodies get memory of their own. */
function toPage(bytes: Buffer) {
  const page: SharedPage = deserialize(bytes);
  const bodies = Object.entries(page.bodies).map(([coding, body]) => [coding, copyBytes(body)]);
  return { ...page, bodies: Object.fromEntries(bodies) };
}
