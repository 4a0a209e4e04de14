/** For what stays: a part of a string keeps the whole in memory, as a path does a request target with its query. */
export function copyString(part: string) {
  return Buffer.from(part).toString();
}
