// At each SIGUSR2, the wall clock of this process steps: an hour ahead, an hour back, right again. `--import` loads it.
// It covers what JavaScript reads from `Date`: not the `Date` header, for which Node keeps the original, and not the
// clocks of other processes. As after a real step, timers and `performance.now()` go on.
const HOUR_MS = 3_600_000;
const offsets = [HOUR_MS, -HOUR_MS];
let offset = 0;
process.on("SIGUSR2", () => {
  offset = offsets.shift() ?? 0;
  console.log(JSON.stringify({ msg: "clock stepped", time: new Date().toISOString() }));
});

const { now } = Date;
Date.now = () => now() + offset;
globalThis.Date = new Proxy(Date, {
  construct: (target, parts, newTarget) =>
    Reflect.construct(target, parts.length > 0 ? parts : [Date.now()], newTarget),
});
