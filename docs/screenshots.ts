// Writes the pictures that the READMEs show, each at most 120 KB.
import { statSync } from "node:fs";
import { launchChromium, startServer } from "react-router-express-server/testing";
import { takeLayoutPicture } from "../app/layout/screenshot.ts";

const MAX_BYTES = 120 * 1024;
const DESKTOP = { width: 960, height: 600 };

/** As the sites that show a shared link's picture ask for (https://ogp.me). */
const PREVIEW = { width: 1200, height: 630 };

const PICTURES = [
  { file: "public/preview.jpg", path: "/", colorScheme: "light", viewport: PREVIEW },
  { file: "docs/home-light.jpg", path: "/", colorScheme: "light", viewport: DESKTOP },
  { file: "docs/not-found-dark.jpg", path: "/nowhere", colorScheme: "dark", viewport: DESKTOP },
] as const;

/** The characters of the page that no font has: they have the box of one that no font can have. */
function findMissingGlyphs() {
  const draw = (character: string) => {
    const canvas = document.createElement("canvas");
    canvas.getContext("2d")?.fillText(character, 0, 20);
    return canvas.toDataURL();
  };
  const box = draw("\u{10ffff}");
  return [...(document.querySelector("main")?.textContent ?? "")].filter(
    (character) => character.trim() && draw(character) === box,
  );
}

function checkSize(file: string) {
  const { size } = statSync(file);
  if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, and may have ${MAX_BYTES}`);
  console.log(`${file}: ${size} bytes`);
}

const [server, browser] = await Promise.all([startServer(), launchChromium()]);
try {
  for (const { file, path, ...options } of PICTURES) {
    const page = await browser.newPage({ ...options, reducedMotion: "reduce" });
    await page.goto(server.url + path, { waitUntil: "networkidle" });
    const missing = await page.evaluate(findMissingGlyphs);
    if (missing.length > 0)
      throw new Error(
        `no font has ${missing.join("")}: on Debian, apt-get install fonts-noto-cjk fonts-noto-color-emoji`,
      );
    // JPEG, since a gradient takes ten times as many bytes as PNG.
    await page.screenshot({ path: file, quality: 85 });
    checkSize(file);
  }
  checkSize(await takeLayoutPicture(browser));
} finally {
  await browser.close();
  await server.stop();
}
