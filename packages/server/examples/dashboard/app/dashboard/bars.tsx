import type { Day } from "./numbers.server";

const [WIDTH, HEIGHT, GAP] = [560, 160, 4];

/** A bar for each day. The table beside it has the same numbers as text. */
export function Bars({ days }: { days: Day[] }) {
  const max = Math.max(1, ...days.map(({ orders }) => orders));
  const step = WIDTH / days.length;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} fill="currentColor" aria-hidden="true">
      {days.map(({ date, orders }, index) => {
        const height = (orders / max) * HEIGHT;
        return (
          <rect
            key={date}
            x={index * step + GAP / 2}
            y={HEIGHT - height}
            width={step - GAP}
            height={height}
            rx={GAP}
            opacity={index === days.length - 1 ? 1 : 0.55}
          />
        );
      })}
    </svg>
  );
}
