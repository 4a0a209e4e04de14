import { createReadableStreamFromReadable } from "@react-router/node";
import { openPicture } from "../uploads.server";
import type { Route } from "./+types/uploaded-picture";

export async function loader({ params }: Route.LoaderArgs) {
  const picture = await openPicture(params.name);
  if (!picture) throw new Response(null, { status: 404 });
  return new Response(createReadableStreamFromReadable(picture.stream), {
    headers: {
      "Content-Type": picture.contentType,
      "Content-Length": String(picture.size),
      // A picture never changes, since each has a name of its own.
      "Cache-Control": "private, max-age=31536000, immutable",
    },
  });
}
