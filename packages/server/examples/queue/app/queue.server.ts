import PgBoss from "pg-boss";
import { createContext } from "react-router";
import * as v from "valibot";
import { type Order, packOrder } from "./orders.server";

export const queueSettings = {
  /** With `memory`, jobs run in the process, once, and are lost at a restart. */
  DATABASE_URL: v.pipe(v.string(), v.regex(/^(memory$|postgres(ql)?:\/\/.)/, "memory, or like postgres://host/name")),
};

export type State = "created" | "retry" | "active" | "completed" | "cancelled" | "failed";

export type Queue = {
  /** Saves a job. Resolves with its id. */
  send: (order: Order) => Promise<string>;
  /** Resolves with undefined if there is no such job. */
  findState: (id: string) => Promise<State | undefined>;
  /** Also starts the queue, once the database is up. */
  checkReadiness: () => Promise<unknown>;
  close: () => Promise<unknown>;
};

export const queueContext = createContext<Queue>();

type Log = Record<"info" | "error", (fields: object, message: string) => void>;
type Options = { settings: { DATABASE_URL: string }; log: Log; work?: typeof packOrder };

const NAME = "orders";
/** After 2, 4, 8, 16 and 32 s, with some chance. */
const RETRIES = { retryLimit: 5, retryDelay: 2, retryBackoff: true };
/** The server waits 2 s for `close`. A job that runs longer is tried again. */
const STOP_TIMEOUT_MS = 1500;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

export function createQueue({ settings: { DATABASE_URL }, log, work = packOrder }: Options): Queue {
  if (DATABASE_URL === "memory") return createMemoryQueue(log, work);
  let starting: Promise<PgBoss> | undefined;

  async function open() {
    const boss = new PgBoss({ connectionString: DATABASE_URL, max: 4, application_name: "queue" });
    boss.on("error", (err) => log.error({ err }, "queue failed"));
    try {
      // Creates the tables, in a schema of their own, or migrates them.
      await boss.start();
      await boss.createQueue(NAME, { name: NAME, ...RETRIES });
      await boss.work<Order>(NAME, { pollingIntervalSeconds: 1 }, async (jobs) => {
        for (const { data } of jobs) await work(data, log);
      });
      return boss;
    } catch (error) {
      await boss.stop({ graceful: false, wait: true }).catch(() => {});
      throw error;
    }
  }

  function start() {
    starting ??= open().catch((error) => {
      starting = undefined;
      throw error;
    });
    return starting;
  }

  return {
    async send(order) {
      const id = await (await start()).send(NAME, order);
      if (id === null) throw new Error("the job wasn't saved");
      return id;
    },
    async findState(id) {
      if (!UUID.test(id)) return undefined;
      return (await (await start()).getJobById(NAME, id))?.state;
    },
    checkReadiness: async () => (await start()).getQueueSize(NAME),
    close: async () => (await starting)?.stop({ graceful: true, wait: true, timeout: STOP_TIMEOUT_MS }),
  };
}

function createMemoryQueue(log: Log, work: typeof packOrder): Queue {
  const states = new Map<string, State>();
  return {
    async send(order) {
      const id = crypto.randomUUID();
      states.set(id, "active");
      work(order, log).then(
        () => states.set(id, "completed"),
        (err) => {
          states.set(id, "failed");
          log.error({ err }, "job failed");
        },
      );
      return id;
    },
    findState: async (id) => states.get(id),
    checkReadiness: async () => {},
    close: async () => {},
  };
}
