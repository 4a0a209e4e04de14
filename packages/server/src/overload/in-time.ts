/** Rejects if a promise takes longer. Uses no AbortSignal, since a Request keeps memory for each signal. */
export function inTime<T>(promise: T | Promise<T>, timeoutMs: number) {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([promise, timedOut]).finally(() => clearTimeout(timer));
}
