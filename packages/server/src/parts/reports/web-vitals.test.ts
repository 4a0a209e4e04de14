import { pino } from "pino";
import { Registry } from "prom-client";
import request from "supertest";
import { expect, test } from "vitest";
import { createExpress } from "../../express.ts";
import type { Pages } from "../../site/pages.ts";
import { browserReports } from "./collect-reports.ts";

const URL = "https://www.example.org/posts/1?token=1#top";

/** Sends web vitals to an application of its own. Returns its log, its counts of reports, and the sums by vital. */
async function send({ json = "{}", url = URL, share = 1, visits = 1 }) {
  const lines: string[] = [];
  const registry = new Registry();
  const findRoute = (path: string) =>
    path.startsWith("/outside/") ? undefined : { route: { pattern: path.startsWith("/posts/") ? "/posts/:id" : "/*" } };
  const log = pino({}, { write: (line) => lines.push(line) });
  const app = createExpress().use(...browserReports(log, registry, { findRoute } as unknown as Pages, share));
  const report = `{"type":"web-vitals","url":${JSON.stringify(url)},"body":${json}}`;
  for (let visit = 0; visit < visits; visit++) {
    const body = `[${report}]`;
    const { status } = await request(app).post("/").set("Content-Type", "application/reports+json").send(body);
    expect(status).toBe(204);
  }
  const metrics = await registry.metrics();
  const series = metrics.matchAll(/^web_vitals_(?:seconds|layout_shift)_(sum|count)\{(.*)\} (.*)$/gm);
  const values = [...series].map(([, kind, labels, value]) => [`${kind} ${labels}`, Number(value)]);
  return {
    lines,
    values: Object.fromEntries(values),
    reports: metrics.match(/^browser_reports_total\{.*\} [1-9].*$/gm),
  };
}

test("the web vitals of a visit are measured under its route, and neither logged nor counted as errors", async () => {
  const json = '{"LCP":1234,"INP":56,"TTFB":78,"CLS":0.25,"FID":3,"name":"x"}';
  expect(await send({ json })).toEqual({
    lines: [],
    reports: null,
    values: {
      'sum vital="LCP",http_route="/posts/:id"': 1.234,
      'count vital="LCP",http_route="/posts/:id"': 1,
      'sum vital="INP",http_route="/posts/:id"': 0.056,
      'count vital="INP",http_route="/posts/:id"': 1,
      'sum vital="TTFB",http_route="/posts/:id"': 0.078,
      'count vital="TTFB",http_route="/posts/:id"': 1,
      'sum http_route="/posts/:id"': 0.25,
      'count http_route="/posts/:id"': 1,
    },
  });
});

test.each([
  ["negative", "-1"],
  ["longer than a minute", "60001"],
  ["infinite", "1e999"],
  ["a text", '"1"'],
  ["null", "null"],
  ["an object", '{"valueOf":1}'],
])("a value that is %s is dropped, and the others count", async (_label, value) => {
  const { lines, values } = await send({ json: `{"LCP":${value},"CLS":${value},"TTFB":0}` });
  expect(lines).toEqual([]);
  expect(values).toEqual({
    'sum vital="TTFB",http_route="/posts/:id"': 0,
    'count vital="TTFB",http_route="/posts/:id"': 1,
  });
});

test.each([
  ["no object", { json: "[1]" }],
  ["null", { json: "null" }],
  ["no URL", { json: '{"LCP":1}', url: "" }],
  ["a path that isn't the site's", { json: '{"LCP":1}', url: "/outside/" }],
  ["a sample of 0", { json: '{"LCP":1}', share: 0 }],
])("a report with %s measures nothing, and logs nothing", async (_label, options) => {
  expect(await send(options)).toEqual({ lines: [], reports: null, values: {} });
});

test.each(["https://evil.example/x", "/%zz"])(
  "the forged URL %s counts as the route that the table finds",
  async (url) => {
    const { values } = await send({ json: '{"LCP":1000}', url });
    expect(values['count vital="LCP",http_route="/*"']).toBe(1);
  },
);

test("a sample counts a share of the visits", async () => {
  const { values } = await send({ json: '{"LCP":1000}', share: 0.5, visits: 100 });
  const count = values['count vital="LCP",http_route="/posts/:id"'];
  expect(count).toBeGreaterThan(10);
  expect(count).toBeLessThan(90);
});
