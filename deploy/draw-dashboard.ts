// A picture of the dashboard's panels. uPlot draws, as in Grafana.
import { readFileSync } from "node:fs";
import { launchChromium } from "react-router-express-server/testing";

export type Panel = {
  title: string;
  description: string;
  type: "stat" | "timeseries";
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig: { defaults: { unit: string; max?: number } };
  targets: { expr: string; legendFormat: string }[];
};
/** One line of a panel: Unix times in seconds and values, which are null where there is none. */
export type Series = { name: string; values: (number | null)[] };
export type Drawing = { times: number[]; panels: (Panel & { series: Series[] })[] };

const STYLE = `
  body { margin: 8px; background: #111217; color: #ccccdc; font: 12px sans-serif }
  main { display: grid; gap: 8px; grid-template-columns: repeat(24, 1fr); grid-auto-rows: 30px }
  section { background: #181b1f; border: 1px solid #2c2f36; border-radius: 2px; padding: 6px 8px; overflow: hidden; display: flex; flex-direction: column }
  h2 { font-size: 13px; margin: 0 0 4px } ul { margin: 0; padding: 0; list-style: none; order: 1 } li { margin-right: 10px; display: inline-block }
  li::before { content: ""; display: inline-block; width: 12px; height: 3px; margin: 0 4px 3px 0; background: var(--color) }
  b { display: block; font-size: 34px; font-weight: 500; margin: 2px 0 8px; color: var(--color) } p { margin: 0 0 4px; opacity: 0.6 }`;

/** Of the script of uPlot's package. */
declare const uPlot: new (options: object, data: (number | null)[][], parent: Element) => object;

/** Runs in the browser. */
function draw({ times, panels }: Drawing) {
  // Steps of the golden angle, so that no two lines have the same colour.
  const colorOf = (index: number) => `hsl(${Math.round(137.5 * index) % 360} 70% 65%)`;
  const scale = (units: string[], step: number) => (value: number) => {
    const index = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log(Math.abs(value) || 1) / Math.log(step))));
    return `${Number((value / step ** index).toPrecision(3))}${units[index]}`;
  };
  const number = (value: number) => String(Number(value.toPrecision(3)));
  const clock = (seconds: number) => new Date(1000 * seconds).toISOString().slice(11, 19);
  const formats: Record<string, (value: number) => string> = {
    percentunit: (value) => `${number(100 * value)}%`,
    bytes: scale([" B", " KiB", " MiB", " GiB"], 1024),
    s: (value) => (value < 1 ? `${number(1000 * value)} ms` : `${number(value)} s`),
    reqps: (value) => `${number(value)} req/s`,
    ops: (value) => `${number(value)}/s`,
  };
  for (const { title, description, type, gridPos, fieldConfig, series } of panels) {
    const { unit, max: limit } = fieldConfig.defaults;
    const format = formats[unit] ?? number;
    const panel = document.createElement("section");
    panel.style.gridArea = `${gridPos.y + 1} / ${gridPos.x + 1} / span ${gridPos.h} / span ${gridPos.w}`;
    const append = (parent: Element, tag: string, text: string, color = "") => {
      const element = document.createElement(tag);
      element.textContent = text;
      element.style.setProperty("--color", color);
      return parent.appendChild(element);
    };
    document.querySelector("main")?.append(panel);
    append(panel, "h2", title);
    append(panel, "p", description);
    if (series.length === 0) append(panel, "p", "No data");
    else if (type === "stat") {
      for (const { name, values } of series) {
        const last = values.at(-1) ?? 0;
        append(panel, "div", name);
        append(panel, "b", format(last), last < 0 ? "#f2495c" : last < 0.5 ? "#ff9830" : "#73bf69");
      }
    } else {
      const legend = append(panel, "ul", "");
      for (const [index, { name }] of series.entries()) append(legend, "li", name, colorOf(index));
      const free = panel.getBoundingClientRect().bottom - legend.getBoundingClientRect().bottom;
      const axis = { stroke: "#9a9ab0", grid: { stroke: "#2c2f36", width: 1 }, ticks: { show: false } };
      const lines = series.map((_, index) => ({
        stroke: colorOf(index),
        width: 1.5,
        points: { show: false },
      }));
      const options = {
        width: panel.clientWidth - 16,
        height: free - 8, // The padding.
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_: unknown, _min: number, max: number) => [0, limit ?? (max || 1) * 1.1] } },
        axes: [
          { ...axis, size: 28, values: (_: unknown, splits: number[]) => splits.map(clock) },
          { ...axis, size: 74, values: (_: unknown, splits: number[]) => splits.map(format) },
        ],
        series: [{}, ...lines],
      };
      new uPlot(options, [times, ...series.map(({ values }) => values)], panel);
    }
  }
}

/** Writes the picture, a JPEG. `library` is the folder of uPlot's package. */
export async function drawDashboard(file: string, library: string, drawing: Drawing) {
  const browser = await launchChromium();
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  await page.setContent(`<style>${STYLE}${readFileSync(`${library}/dist/uPlot.min.css`, "utf8")}</style><main></main>`);
  await page.addScriptTag({ path: `${library}/dist/uPlot.iife.min.js` });
  await page.evaluate(draw, drawing);
  await page.screenshot({ path: file, fullPage: true, quality: 70 });
  await browser.close();
}
