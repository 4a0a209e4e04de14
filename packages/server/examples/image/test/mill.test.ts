import { expect, open, test } from "./support/fixtures.ts";

test("the picture has a file for each width, in two formats, which browsers keep", async ({ server }) => {
  const html = await (await fetch(`${server.url}/mill`)).text();
  const sources = [...html.matchAll(/<source type="image\/(\w+)" srcSet="([^"]+)"/g)];
  expect(sources.map(([, format]) => format)).toEqual(["avif", "jpeg"]);
  for (const [, format, srcSet = ""] of sources) {
    const files = srcSet.split(", ").map((entry) => entry.split(" "));
    expect(files.map(([, width]) => width)).toEqual(["400w", "800w", "1200w", "1600w"]);
    for (const [path] of files) {
      const { status, headers } = await fetch(new URL(String(path), server.url));
      expect([status, headers.get("Content-Type")]).toEqual([200, `image/${format}`]);
      expect(headers.get("Cache-Control")).toContain("immutable");
    }
  }
});

test.for([
  [375, "400w"],
  [1280, "800w"],
] as const)("at a width of %i, the browser loads the file of %s", async ([width, expected], { page, server }) => {
  await page.setViewportSize({ width, height: 800 });
  await open(page, `${server.url}/mill`);
  const picture = page.getByRole("img", { name: "A windmill" });
  const { source, ratio, overflow } = await picture.evaluate(async (img: HTMLImageElement) => {
    await img.decode();
    const overflow = document.documentElement.scrollWidth - innerWidth;
    return { source: new URL(img.currentSrc).pathname, ratio: img.clientWidth / img.clientHeight, overflow };
  });
  const srcset = await page.locator("source[type='image/avif']").getAttribute("srcset");
  expect(srcset).toContain(`${source} ${expected}`);
  expect(ratio).toBeCloseTo(1600 / 1067, 1);
  expect(overflow).toBeLessThanOrEqual(0);
});
