import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createSiteMetrics } from "./site-metrics.ts";

function create() {
  const registry = new Registry();
  return { metrics: createSiteMetrics(registry), read: () => registry.metrics() };
}

test("a site has counters, gauges and durations of its own", async () => {
  const { metrics, read } = create();
  const countMails = metrics.count("mails_total", "Mails.");
  countMails();
  countMails(2);
  metrics.gauge("jobs", "Jobs that wait.", () => 7);
  metrics.measure("mail_duration_seconds", "Duration of a mail.")(0.2);
  const text = await read();
  for (const line of [
    "mails_total 3",
    "jobs 7",
    'mail_duration_seconds_bucket{le="0.25"} 1',
    "mail_duration_seconds_sum 0.2",
  ])
    expect(text.split("\n")).toContain(line);
});

test("a label has the values that are declared, whatever visitors send", async () => {
  const { metrics, read } = create();
  const values = { paid: "the money has arrived", refused: "by the bank" };
  const countOrder = metrics.countBy({ name: "orders_total", help: "Orders.", label: "result", values });
  countOrder("paid");
  for (const visitors of ["a", "b", "toString"]) countOrder(visitors as "paid");
  expect((await read()).match(/^orders_total.*/gm)).toEqual([
    'orders_total{result="paid"} 1',
    'orders_total{result="refused"} 0',
    'orders_total{result="other"} 3',
  ]);
});

test.each([
  ["throws", () => JSON.parse("")],
  ["returns no number", () => undefined as never],
])("a gauge whose function %s doesn't hide the other metrics", async (_what, readBroken) => {
  const { metrics, read } = create();
  metrics.gauge("broken", "Can't be read.", readBroken);
  metrics.gauge("jobs", "Jobs that wait.", () => 7);
  expect((await read()).match(/^(broken|jobs) .*/gm)).toEqual(["broken Nan", "jobs 7"]);
});

test.each([
  ["is taken", "jobs", "already been registered"],
  ["isn't one", "jobs per hour", "Invalid metric name"],
])("a name that %s is an error at startup", (_what, name, message) => {
  const { metrics } = create();
  metrics.count("jobs", "Jobs.");
  expect(() => metrics.gauge(name, "Jobs.", () => 1)).toThrow(message);
});
