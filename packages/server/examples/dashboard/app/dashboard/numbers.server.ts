export type Day = { date: string; orders: number };
export type Numbers = { visitors: number; orders: number; days: Day[]; time: string };

const DAY_MS = 24 * 60 * 60 * 1000;

/** Yours: queries of a database. */
export async function loadNumbers(dayCount: number): Promise<Numbers> {
  const now = Date.now();
  const days = Array.from({ length: dayCount }, (_, index) => {
    const day = Math.floor(now / DAY_MS) - dayCount + 1 + index;
    return { date: new Date(day * DAY_MS).toISOString().slice(0, 10), orders: 20 + ((day * 37) % 31) };
  });
  return {
    visitors: 40 + Math.floor(Math.random() * 20),
    orders: days.reduce((sum, { orders }) => sum + orders, 0),
    days,
    time: new Date(now).toISOString(),
  };
}
