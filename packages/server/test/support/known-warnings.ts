import { stripVTControlCharacters } from "node:util";

/** Fixed in React Router 8: https://github.com/remix-run/react-router/issues/15229 */
const KNOWN = /^(The `envFile` option is deprecated, please use `envDir: false` instead\.( \(x\d\))?)?$/;

/** The lines of standard error, without the README's warning that only React Router can mend. */
export function withoutKnownWarnings(lines: string[]) {
  return lines.filter((line) => !KNOWN.test(stripVTControlCharacters(line)));
}
