import { type FormEvent, useEffect, useRef, useState } from "react";
import { data, redirect, useNavigate } from "react-router";
import type { Handle } from "react-router-express-server/app";
import { resizePicture } from "../resize-picture";
import { isPictureName, savePicture } from "../uploads.server";
import type { Route } from "./+types/upload";

const MAX_BYTES = 5 * 1024 * 1024;

/** The server responds with 413 to a larger form. */
export const handle = { maxBodyBytes: MAX_BYTES } satisfies Handle;

/** By status. */
const ERRORS: Record<number, string> = {
  413: "Choose a picture of at most 5 MB.",
  415: "Choose a PNG, a JPEG or a WebP picture.",
};
const NOT_SENT = "The picture could not be sent. Please try again.";

export async function action({ request }: Route.ActionArgs) {
  const name = await savePicture(request);
  if (name === undefined) return data({ error: ERRORS[415] }, { status: 415 });
  // A reload of the next page doesn't send the picture again.
  return redirect(`/upload?picture=${name}`, 303);
}

export function loader({ url }: Route.LoaderArgs) {
  const picture = url.searchParams.get("picture") ?? "";
  return { picture: isPictureName(picture) ? picture : undefined };
}

export const meta: Route.MetaFunction = () => [{ title: "Upload a picture" }];

export default function Upload({ loaderData, actionData }: Route.ComponentProps) {
  const { progress, error = actionData?.error, send, cancel } = useUpload();
  const isSending = progress !== undefined;
  return (
    <main>
      <h1>Upload a picture</h1>
      <p>PNG, JPEG or WebP, up to 5 MB.</p>
      {/* Without scripts, the browser sends the form itself. */}
      <form method="post" encType="multipart/form-data" onSubmit={send}>
        <label htmlFor="picture">Picture</label>
        <input
          id="picture"
          name="picture"
          type="file"
          accept="image/png,image/jpeg,image/webp"
          required
          aria-invalid={error !== undefined}
          aria-describedby={error && "picture-error"}
        />
        {error && (
          <p id="picture-error" role="alert">
            {error}
          </p>
        )}
        {isSending && (
          <p>
            <label htmlFor="sent">Sending</label>
            <progress id="sent" value={progress} />
          </p>
        )}
        <div>
          <button type="submit" disabled={isSending}>
            Upload
          </button>
          {isSending && (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )}
        </div>
      </form>
      {loaderData.picture && !isSending && (
        <>
          <p role="status">Your picture is uploaded.</p>
          <img src={`${import.meta.env.BASENAME}/uploads/${loaderData.picture}`} alt="What you have uploaded" />
        </>
      )}
    </main>
  );
}

/** Makes the picture smaller, and sends the form, with its progress from 0 to 1. */
function useUpload() {
  const [progress, setProgress] = useState<number>();
  const [error, setError] = useState<string>();
  const sending = useRef<AbortController>(undefined);
  const navigate = useNavigate();
  const cancel = () => sending.current?.abort();
  useEffect(() => () => sending.current?.abort(), []);

  async function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const { action } = event.currentTarget;
    const form = new FormData(event.currentTarget);
    sending.current = new AbortController();
    const { signal } = sending.current;
    setError(undefined);
    setProgress(0);
    const original = form.get("picture") as File;
    const picture = await resizePicture(original).catch(() => original);
    const isTooLarge = picture.size > MAX_BYTES;
    if (isTooLarge) setError(ERRORS[413]);
    if (isTooLarge || signal.aborted) return setProgress(undefined);
    form.set("picture", picture);
    // `fetch` doesn't report the progress of what is sent.
    const request = new XMLHttpRequest();
    signal.onabort = () => request.abort();
    request.upload.onprogress = ({ loaded, total }) => setProgress(loaded / total);
    request.onload = () => {
      if (request.status < 400) navigate({ search: new URL(request.responseURL).search });
      else setError(ERRORS[request.status] ?? NOT_SENT);
    };
    request.onerror = () => setError(NOT_SENT);
    request.onloadend = () => setProgress(undefined);
    request.open("POST", action);
    request.send(form);
  }
  return { progress, error, send, cancel };
}
