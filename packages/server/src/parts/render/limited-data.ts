import type { LoaderFunction } from "react-router";

/** In bytes. */
const MAX_DATA = 1024 * 1024;

/**
 * Limits what a resource route sends as `.data`, for `useFetcher().load()`. React Router reads all of it into memory,
 * also a file that the route streams.
 */
export function withLimitedData(loader: LoaderFunction): LoaderFunction {
  return async (args, ...rest) => {
    const result = await loader(args, ...rest);
    const isData = new URL(args.request.url).pathname.endsWith(".data");
    return isData && result instanceof Response && result.body ? limit(result, result.body) : result;
  };
}

function limit(response: Response, body: ReadableStream<Uint8Array>) {
  let bytes = 0;
  const limited = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_DATA) throw new Error("this response is too large for useFetcher().load(): link to the route");
      controller.enqueue(chunk);
    },
  });
  return new Response(body.pipeThrough(limited), response);
}
