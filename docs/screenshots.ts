// Writes the pictures that the README shows, each at most 120 KB.
import { statSync } from "node:fs";
import { launchChromium } from "../test/support/chromium.ts";
import { startServer } from "../test/support/start-server.ts";

const MOST_BYTES = 120 * 1024;
const DESKTOP = { width: 960, height: 600 };
const PHONE = { width: 390, height: 844 };

const PICTURES = [
  { name: "home-light", path: "/", colorScheme: "light", viewport: DESKTOP },
  { name: "home-dark", path: "/", colorScheme: "dark", viewport: DESKTOP },
  { name: "not-found-light", path: "/nowhere", colorScheme: "light", viewport: DESKTOP },
  { name: "not-found-dark", path: "/nowhere", colorScheme: "dark", viewport: DESKTOP },
  { name: "home-phone", path: "/", colorScheme: "light", viewport: PHONE },
  { name: "not-found-phone", path: "/nowhere", colorScheme: "dark", viewport: PHONE },
] as const;

const [server, browser] = await Promise.all([startServer(), launchChromium()]);
try {
  for (const { name, path, ...options } of PICTURES) {
    const page = await browser.newPage({ ...options, reducedMotion: "reduce" });
    await page.goto(server.url + path, { waitUntil: "networkidle" });
    const file = `docs/${name}.jpg`; // A gradient takes ten times as many bytes as PNG.
    await page.screenshot({ path: file, quality: 85 });
    const { size } = statSync(file);
    if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, and may have ${MOST_BYTES}`);
    console.log(`${file}: ${size} bytes`);
  }
} finally {
  await browser.close();
  await server.stop();
}
