import type { Page } from "playwright-core";
import { expect, open, test } from "./support/fixtures.ts";

/** One pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PICTURE = { name: "dot.png", mimeType: "image/png", buffer: PNG };
const TEXT = { name: "text.png", mimeType: "image/png", buffer: Buffer.from("text") };

/** Sends a form as browsers without scripts do. */
function post(url: string, bytes: Buffer, type = "image/png") {
  const body = new FormData();
  body.set("picture", new File([new Uint8Array(bytes)], "a.png", { type }));
  return fetch(`${url}/upload`, { method: "POST", body, redirect: "manual" });
}

test.for([true, false])(
  "a picture is uploaded and shown, with scripts: %s",
  async (javaScriptEnabled, { browser, server }) => {
    const page = await browser.newPage({ javaScriptEnabled });
    if (javaScriptEnabled) await open(page, `${server.url}/upload`);
    else await page.goto(`${server.url}/upload`);
    await page.getByLabel("Picture").setInputFiles(PICTURE);
    await page.getByRole("button", { name: "Upload" }).click();
    await page.getByRole("status").waitFor();
    const src = await page.getByRole("img", { name: "What you have uploaded" }).getAttribute("src");
    const response = await fetch(new URL(String(src), server.url));
    expect(response.headers.get("Content-Type")).toBe("image/png");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
    await page.close();
  },
);

/** Chooses a photo of 3200 by 1600 pixels, with further bytes at its end, and sends it. Resolves with the size that shows. */
async function uploadPhoto(page: Page, type: string, furtherBytes = 0) {
  const bytes = await page.evaluate(async (type) => {
    const canvas = new OffscreenCanvas(3200, 1600);
    canvas.getContext("2d")?.fillRect(0, 0, 1600, 1600);
    return [...new Uint8Array(await (await canvas.convertToBlob({ type })).arrayBuffer())];
  }, type);
  const buffer = Buffer.concat([Buffer.from(bytes), Buffer.alloc(furtherBytes)]);
  await page.getByLabel("Picture").setInputFiles({ name: "photo", mimeType: type, buffer });
  await page.getByRole("button", { name: "Upload" }).click();
  const shown = page.getByRole("img", { name: "What you have uploaded" });
  await shown.waitFor();
  const response = await fetch(new URL(String(await shown.getAttribute("src")), page.url()));
  expect(response.headers.get("Content-Type")).toBe(type);
  const readSize = () => shown.evaluate((img: HTMLImageElement) => [img.naturalWidth, img.naturalHeight]);
  await expect.poll(readSize).not.toContain(0);
  return readSize();
}

test.for(["image/png", "image/jpeg", "image/webp"])(
  "with scripts, a photo of the type %s is made smaller before it is sent, so a larger one fits, too",
  async (type, { page, server }) => {
    await open(page, `${server.url}/upload`);
    expect(await uploadPhoto(page, type, 6_000_000)).toEqual([1600, 800]);
  },
);

test("without scripts, a photo is sent as it is", async ({ browser, server }) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(`${server.url}/upload`);
  expect(await uploadPhoto(page, "image/jpeg")).toEqual([3200, 1600]);
  await page.close();
});

test("with scripts, the progress shows, and a cancelled upload leaves the form", async ({ page, server }) => {
  await open(page, `${server.url}/upload`);
  // The response doesn't arrive.
  await page.route("**/upload", () => {});
  await page.getByLabel("Picture").setInputFiles(PICTURE);
  await page.getByRole("button", { name: "Upload" }).click();
  await page.getByRole("progressbar").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("progressbar").waitFor({ state: "detached" });
  expect(await page.getByRole("button", { name: "Upload" }).isEnabled()).toBe(true);
});

test("with scripts, a file that isn't a picture or is too large shows why", async ({
  page,
  server,
  consoleMessages,
}) => {
  await open(page, `${server.url}/upload`);
  const send = async (buffer: Buffer) => {
    await page.getByLabel("Picture").setInputFiles({ ...TEXT, buffer });
    await page.getByRole("button", { name: "Upload" }).click();
  };
  await send(TEXT.buffer);
  await page.getByRole("alert").filter({ hasText: "Choose a PNG" }).waitFor();
  const uploads: string[] = [];
  page.on("request", (request) => request.url().includes("/upload") && uploads.push(request.method()));
  await send(Buffer.alloc(6_000_000));
  await page.getByRole("alert").filter({ hasText: "at most 5 MB" }).waitFor();
  expect(uploads).toEqual([]);
  expect(consoleMessages.splice(0)).toEqual([expect.stringContaining("status of 415")]);
});

test.for([
  ["a picture", PNG, 303],
  ["text", TEXT.buffer, 415],
  ["an empty file", Buffer.alloc(0), 415],
  ["a file of 6 MB", Buffer.alloc(6_000_000), 413],
] as const)("%s has its status", async ([, bytes, status], { server }) => {
  expect((await post(server.url, bytes)).status).toBe(status);
});

test.for([
  ["no body", "multipart/form-data; boundary=b", null],
  ["a form without a file", "application/x-www-form-urlencoded", "a=b"],
  [
    "a form that is cut",
    "multipart/form-data; boundary=b",
    '--b\r\nContent-Disposition: form-data; name="picture"; filename="a"\r\n\r\n',
  ],
] as const)("%s gets 415, and no error is logged", async ([, type, body], { server }) => {
  const headers = { "Content-Type": type };
  const response = await fetch(`${server.url}/upload`, { method: "POST", headers, body });
  expect(response.status).toBe(415);
  expect(server.lines.filter(({ level }) => Number(level) > 40)).toEqual([]);
});

test.for(["nothing.png", "00000000-0000-0000-0000-000000000000.png", "..%2F..%2Fetc%2Fpasswd", "a.svg"])(
  "/uploads/%s gets 404",
  async (name, { server }) => {
    expect((await fetch(`${server.url}/uploads/${name}`)).status).toBe(404);
  },
);
