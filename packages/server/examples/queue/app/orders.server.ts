/** What a job gets. It is saved as JSON. */
export type Order = { item: string };

type Log = { info: (fields: object, message: string) => void };

/** Yours: the work. If it throws, it runs again later, so a second run must do no harm. */
export async function packOrder(order: Order, log: Log) {
  log.info({ order }, "order packed");
}
