import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import * as v from "valibot";
import type { Published } from "./publisher.ts";

/** Each process sends its name this often. */
const HEARTBEAT_INTERVAL_MS = 20_000;
/** Processes that start together are answered together. */
const ANSWER_DELAY_MS = 1000;
/** A purge doesn't wait for a process that was silent for longer, but names it. */
const SILENCE_MS = 3 * HEARTBEAT_INTERVAL_MS;
/** A process that was silent for longer has ended. */
const MAX_SILENCE_MS = 3_600_000;
const CONFIRM_TIMEOUT_MS = 2000;
const POLL_INTERVAL_MS = 20;
/** Each message is an invalidation. This one invalidates nothing. */
const NOTHING = { groups: [], paths: [], prefixes: [] };

/** What a message has beside its invalidation. */
export const ProcessSchema = v.object({
  from: v.string(),
  /** Missing if the sender's release is older. It confirms nothing. */
  name: v.optional(v.string()),
  /** The id of a purge that each process confirms. */
  purge: v.optional(v.string()),
  /** The id of the purge that the sender confirms. */
  confirms: v.optional(v.string()),
  isLeaving: v.optional(v.boolean(), false),
});

/** The names of processes, as on log lines. If the purge isn't published, nothing is known. */
type Confirmation = { others: Published["others"] | "unconfirmed"; confirmed?: string[]; unconfirmed?: string[] };

/** The processes on the channel, which confirm purges to each other. */
export function createProcesses() {
  const self = { from: randomUUID(), name: `${hostname()} (process ${process.pid})` };
  const others = new Map<string, { name: string; heardAt: number }>();
  /** By the id of a purge, the names of the processes that have confirmed it. */
  const purges = new Map<string, Map<string, string>>();
  let publish: ((message: string) => Promise<unknown>) | undefined;
  let heartbeat: NodeJS.Timeout | undefined;
  let isClosed = false;

  const send = async (content: object) => publish?.(JSON.stringify({ ...self, ...content }));
  /** Whatever isn't sent is missing in the answer to a purge. */
  const announce = (fields: object) => send({ ...NOTHING, ...fields }).catch(() => {});

  function announceAfter(delayMs: number) {
    if (isClosed) return;
    clearTimeout(heartbeat);
    heartbeat = setTimeout(() => {
      for (const [id, { heardAt }] of others) if (performance.now() - heardAt > MAX_SILENCE_MS) others.delete(id);
      announce({});
      announceAfter(HEARTBEAT_INTERVAL_MS);
    }, delayMs).unref();
  }

  return {
    send,
    isOwn: ({ from }: { from: string }) => from === self.from,
    /** Call it after the message's invalidation, which it may confirm. */
    receive({ from, name, purge, confirms, isLeaving }: v.InferOutput<typeof ProcessSchema>) {
      if (isLeaving) return others.delete(from);
      if (name === undefined || isClosed) return;
      if (!others.has(from)) announceAfter(ANSWER_DELAY_MS);
      others.set(from, { name, heardAt: performance.now() });
      if (confirms) purges.get(confirms)?.set(from, name);
      if (purge) announce({ confirms: purge });
    },
    /** Sends a purge with an id. If it is published, resolves once those that aren't silent confirm it, or after 2 s. */
    async confirm<Sent extends Published>(
      sendPurge: (id: string) => Promise<Sent>,
    ): Promise<Omit<Sent, "others"> & Confirmation> {
      const [id, confirmed] = [randomUUID(), new Map<string, string>()];
      purges.set(id, confirmed);
      const sent = await sendPurge(id);
      const listUnconfirmed = (silenceMs: number) =>
        [...others]
          .filter(([from, { heardAt }]) => !confirmed.has(from) && performance.now() - heardAt <= silenceMs)
          .map(([, { name }]) => name);
      const end = sent.others === "published" ? performance.now() + CONFIRM_TIMEOUT_MS : 0;
      while (listUnconfirmed(SILENCE_MS).length > 0 && performance.now() < end) await wait(POLL_INTERVAL_MS);
      purges.delete(id);
      if (sent.others !== "published") return sent;
      const unconfirmed = listUnconfirmed(MAX_SILENCE_MS);
      const state = unconfirmed.length > 0 ? "unconfirmed" : "published";
      return { ...sent, others: state, confirmed: [self.name, ...confirmed.values()], unconfirmed };
    },
    connect(publishMessage: typeof publish) {
      publish = publishMessage;
    },
    announceName: () => announceAfter(0),
    /** So that no purge waits for this process. */
    async close() {
      isClosed = true;
      clearTimeout(heartbeat);
      await announce({ isLeaving: true });
    },
  };
}
