// Draws bars as SVG. Its own background makes a plot readable on any page, and follows the reader's colour scheme.
export type Bar = { label: string; value: number; text: string; isMuted?: boolean };
/** A bar whose value is NaN has its text alone. `description` is read to people who don't see the plot. A group has a name if there are several. */
export type Chart = { title: string; description: string; groups: { name?: string; bars: Bar[] }[] };

// In a column of 343 px, on a phone, the text has 12 px.
const WIDTH = 400;
const MARGIN = 16;
const LINE = 22;
const BAR_HEIGHT = 14;
/** For the value beside the longest bar. */
const VALUE_WIDTH = 112;

const STYLE = `
  svg { color-scheme: light dark; font: 14px system-ui, sans-serif; }
  .background { fill: #fff; stroke: #d1d9e0; }
  text { fill: #1f2328; }
  .title { font-size: 16px; }
  .title, .name { font-weight: 600; }
  .bar { fill: #0969da; }
  .muted { fill: #818b98; }
  @media (prefers-color-scheme: dark) {
    .background { fill: #0d1117; stroke: #3d444d; }
    text { fill: #f0f6fc; }
    .bar { fill: #4493f8; }
  }
`;

const escapeText = (text: string) => text.replace(/[&<]/g, (character) => (character === "&" ? "&amp;" : "&lt;"));

export function drawBars({ title, description, groups }: Chart) {
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value));
  const largest = Math.max(...values.filter(Number.isFinite));
  const parts: string[] = [];
  let y = MARGIN + LINE;
  const write = (className: string, text: string, x = MARGIN) =>
    parts.push(`<text class="${className}" x="${x}" y="${y}">${escapeText(text)}</text>`);
  write("title", title);
  y += 4;
  for (const { name, bars } of groups) {
    if (name) {
      y += LINE + 8;
      write("name", name);
    }
    for (const { label, value, text, isMuted } of bars) {
      y += LINE;
      write("label", label);
      const length = Math.max(1, Math.round((value / largest) * (WIDTH - 2 * MARGIN - VALUE_WIDTH)));
      const shape = `x="${MARGIN}" y="${y + 6}" width="${length}" height="${BAR_HEIGHT}"`;
      if (Number.isFinite(value)) parts.push(`<rect class="${isMuted ? "muted" : "bar"}" ${shape} />`);
      y += 18;
      write("value", text, Number.isFinite(value) ? MARGIN + length + 6 : MARGIN);
      y += 3;
    }
  }
  const height = y + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escapeText(title)}</title>
<desc id="description">${escapeText(description)}</desc>
<style>${STYLE}</style>
<rect class="background" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6" />
${parts.join("\n")}
</svg>
`;
}
