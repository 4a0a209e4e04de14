import { launchChromium } from "react-router-express-server/testing";

/** Lighthouse's "Slow 4G", in ms and bytes per second. */
const SLOW_LINK = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 750e3 / 8 };

/** Visits a page for the first time over a slow link. Returns when Chromium has painted and React has hydrated it, in ms. */
export async function measureFirstVisit(url: string) {
  const browser = await launchChromium();
  const page = await browser.newPage();
  const session = await page.context().newCDPSession(page);
  await session.send("Network.emulateNetworkConditions", SLOW_LINK);
  await page.goto(url, { waitUntil: "commit" });
  // React marks the elements that it has hydrated.
  const isHydrated = () => Object.keys(document.querySelector("main") ?? {}).length > 0 && performance.now();
  const hydrated = await (await page.waitForFunction(isHydrated, null, { polling: 5 })).jsonValue();
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  await browser.close();
  return { paint: Number(paint), hydrated: Number(hydrated) };
}
