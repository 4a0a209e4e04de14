import { rmSync } from "node:fs";
import { type launchChromium, startServer } from "react-router-express-server/testing";
import { build, copyWithExamples } from "../../test/support/copy-project.ts";

const DESKTOP = { width: 1100, height: 1000 };
const PHONE = { width: 375, height: 1000 };

const VIEWS = [
  { path: "walks", colorScheme: "light", viewport: DESKTOP },
  { path: "book", colorScheme: "light", viewport: PHONE },
  { path: "book", colorScheme: "dark", viewport: DESKTOP },
  { path: "walks", colorScheme: "dark", viewport: PHONE },
] as const;

/** Takes examples at two sizes, light and dark, into one picture. Returns its path. */
export async function takeLayoutPicture(browser: Awaited<ReturnType<typeof launchChromium>>) {
  const file = "app/layout/layout.jpg";
  const folder = copyWithExamples();
  await build(folder);
  const server = await startServer({}, folder);
  const pictures: string[] = [];
  for (const { path, ...options } of VIEWS) {
    const page = await browser.newPage(options);
    await page.goto(`${server.url}/example-pages/${path}`, { waitUntil: "networkidle" });
    if (path === "book") {
      await page.getByRole("button", { name: "Book" }).click();
      await page.locator("[aria-invalid=true]").first().waitFor();
    }
    pictures.push((await page.screenshot()).toString("base64"));
  }
  const sheet = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  const images = pictures.map((picture) => `<img src="data:image/png;base64,${picture}" alt="">`).join("");
  await sheet.setContent(`<style>
    body { display: grid; grid-template-columns: auto auto; gap: 16px; margin: 0; width: fit-content; }
    img { height: 620px; }
  </style>${images}`);
  await sheet.locator("body").screenshot({ path: file, quality: 70 });
  await server.stop();
  rmSync(folder, { recursive: true });
  return file;
}
