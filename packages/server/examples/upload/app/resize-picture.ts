/** In pixels, the longer side of a picture that is sent. */
const MAX_SIDE = 1600;

/**
 * Makes a large picture smaller, in the browser. Then it has no metadata, such as where a photo was taken. Resolves with
 * the same file if it would get no smaller. Rejects if the browser can't do it, such as for a file that isn't a picture.
 */
export async function resizePicture(file: File) {
  const bitmap = await createImageBitmap(file);
  const scale = MAX_SIDE / Math.max(bitmap.width, bitmap.height);
  if (scale >= 1) return file;
  const canvas = new OffscreenCanvas(Math.ceil(bitmap.width * scale), Math.ceil(bitmap.height * scale));
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  // A browser that can't write this type writes a PNG.
  const blob = await canvas.convertToBlob({ type: file.type });
  return blob.size < file.size ? new File([blob], file.name, { type: blob.type }) : file;
}
