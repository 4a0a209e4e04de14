/** Limits how often per second a function runs, so that clients can't fill the log. */
export function limitRate<Args extends unknown[]>(maxPerSecond: number, run: (...args: Args) => void) {
  let count = 0;
  setInterval(() => {
    count = 0;
  }, 1000).unref();
  return (...args: Args) => {
    count += 1;
    if (count <= maxPerSecond) run(...args);
  };
}
