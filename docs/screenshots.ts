// Writes the pictures that the README shows, each at most 120 KB.
import { statSync } from "node:fs";
import { launchChromium } from "../test/support/chromium.ts";
import { startServer } from "../test/support/start-server.ts";

const MAX_BYTES = 120 * 1024;
const DESKTOP = { width: 960, height: 600 };
const PHONE = { width: 390, height: 844 };

/** As the sites that show a shared link's picture ask for (https://ogp.me). */
const PREVIEW = { width: 1200, height: 630 };

const PICTURES = [
  { file: "public/preview.jpg", path: "/", colorScheme: "light", viewport: PREVIEW },
  { file: "docs/home-light.jpg", path: "/", colorScheme: "light", viewport: DESKTOP },
  { file: "docs/home-dark.jpg", path: "/", colorScheme: "dark", viewport: DESKTOP },
  { file: "docs/not-found-light.jpg", path: "/nowhere", colorScheme: "light", viewport: DESKTOP },
  { file: "docs/not-found-dark.jpg", path: "/nowhere", colorScheme: "dark", viewport: DESKTOP },
  { file: "docs/home-phone.jpg", path: "/", colorScheme: "light", viewport: PHONE },
  { file: "docs/not-found-phone.jpg", path: "/nowhere", colorScheme: "dark", viewport: PHONE },
] as const;

const [server, browser] = await Promise.all([startServer(), launchChromium()]);
try {
  for (const { file, path, ...options } of PICTURES) {
    const page = await browser.newPage({ ...options, reducedMotion: "reduce" });
    await page.goto(server.url + path, { waitUntil: "networkidle" });
    // JPEG, since a gradient takes ten times as many bytes as PNG.
    await page.screenshot({ path: file, quality: 85 });
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, and may have ${MAX_BYTES}`);
    console.log(`${file}: ${size} bytes`);
  }
} finally {
  await browser.close();
  await server.stop();
}
