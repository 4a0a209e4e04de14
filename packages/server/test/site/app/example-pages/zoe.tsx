/** A page whose path has a letter beyond ASCII. */
export { default, meta } from "./name";
