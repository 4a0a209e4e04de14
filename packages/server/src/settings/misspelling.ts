import leven from "leven";

/** Short names, such as HOME, are near to others by chance. */
const maxEdits = ({ length }: string) => (length < 7 ? 0 : length < 10 ? 1 : 2);

/** The known name that an unknown one is probably meant to be. */
export function findMeant(name: string, known: string[]) {
  if (known.includes(name)) return undefined;
  return known.find((candidate) => leven(name, candidate) <= maxEdits(name));
}
