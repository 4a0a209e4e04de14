import { fileURLToPath } from "node:url";

/** The site of the tests: two pages, and an example of each kind of page. */
export const SITE = fileURLToPath(new URL("../site", import.meta.url));
