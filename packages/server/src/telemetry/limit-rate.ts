/** Limits how often per second a function runs, so that clients can't fill the log. */
export function limitRate<Args extends unknown[]>(maxPerSecond: number, run: (...args: Args) => void) {
  let second = 0;
  let count = 0;
  return (...args: Args) => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) count = 0;
    second = now;
    count += 1;
    if (count <= maxPerSecond) run(...args);
  };
}
