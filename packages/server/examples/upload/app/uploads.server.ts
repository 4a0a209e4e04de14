import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { Busboy } from "@fastify/busboy";

/** Yours: a volume that all processes share, or a store of objects. */
const FOLDER = join(tmpdir(), "uploads");

/** By the first bytes, in hex, since a browser takes the type from the file's name. */
const TYPES = [
  { extension: "png", contentType: "image/png", start: /^89504e470d0a1a0a/ },
  { extension: "jpg", contentType: "image/jpeg", start: /^ffd8ff/ },
  { extension: "webp", contentType: "image/webp", start: /^52494646.{8}57454250/ },
];
const START_BYTES = 12;

const NAME = /^[\da-f-]{36}\.(png|jpg|webp)$/;

/** The type of a saved picture, by its name. Undefined if no picture can have this name. */
const findType = (name: string) => TYPES.find(({ extension }) => NAME.exec(name)?.[1] === extension);

export const isPictureName = (name: string) => findType(name) !== undefined;

/** Saves the picture of a form, and resolves with its new name. Undefined if the form has no picture. */
export async function savePicture(request: Request) {
  await mkdir(FOLDER, { recursive: true });
  const id = randomUUID();
  const path = join(FOLDER, id);
  try {
    if (!(await saveFile(request, path))) return undefined;
    const start = await readStart(path);
    const type = TYPES.find((type) => type.start.test(start));
    if (!type) return undefined;
    const name = `${id}.${type.extension}`;
    await rename(path, join(FOLDER, name));
    return name;
  } catch (error) {
    // An error of the disk has `syscall`. The others are of a form that is malformed or cut.
    if ((error as NodeJS.ErrnoException).syscall) throw error;
    return undefined;
  } finally {
    await rm(path, { force: true });
  }
}

/** Writes the form's file while it arrives: `request.formData()` would hold it in memory. Resolves with false without one. */
async function saveFile({ headers, body }: Request, path: string) {
  if (!body) return false;
  const form = new Busboy({
    headers: { "content-type": headers.get("Content-Type") ?? "" },
    limits: { files: 1, fields: 0 },
  });
  const saved: Promise<unknown>[] = [];
  form.on("file", (_name, file) => {
    saved.push(pipeline(file, createWriteStream(path)).catch((error) => form.destroy(error)));
  });
  await pipeline(Readable.fromWeb(body as ReadableStream), form);
  await Promise.all(saved);
  return saved.length > 0;
}

async function readStart(path: string) {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES);
    return buffer.toString("hex", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Opens a saved picture. Undefined if there is none. */
export async function openPicture(name: string) {
  const type = findType(name);
  const file = type && (await open(join(FOLDER, name)).catch(() => undefined));
  if (!file) return undefined;
  const { size } = await file.stat();
  return { contentType: type.contentType, size, stream: file.createReadStream() };
}
