/** In days. The first is the default. */
export const PERIODS = [7, 14, 28];

/** The period of a URL such as `/dashboard?days=14`. */
export function findPeriod(search: URLSearchParams) {
  const days = Number(search.get("days"));
  return PERIODS.find((period) => period === days) ?? 7;
}
