import { type ActionFunction, data, type LoaderFunction } from "react-router";

/** In bytes. */
const MAX_DATA = 1024 * 1024;

/**
 * Limits what a loader or an action of a resource route returns or throws for `useFetcher()`, to paths that end in
 * `.data`. React Router reads all of it into memory, also a file that the route streams. What the middleware of a route
 * sends isn't limited.
 */
export function withLimitedData<T extends LoaderFunction | ActionFunction>(handle: T): LoaderFunction | ActionFunction {
  return async (args, ...rest) => {
    const isData = new URL(args.request.url).pathname.endsWith(".data");
    if (!isData) return handle(args, ...rest);
    try {
      return await limit(await handle(args, ...rest));
    } catch (error) {
      throw await limit(error);
    }
  };
}

/** Reads a response. Throws 406 and cancels its body if it is too large. */
async function limit(result: unknown) {
  if (!(result instanceof Response) || !result.body) return result;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of result.body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_DATA) throw data("this response is too large for useFetcher(): link to the route", { status: 406 });
    chunks.push(chunk);
  }
  return new Response(new Blob(chunks), result);
}
