import { redirect } from "react-router";

/** As in a linked package of a site: this module isn't in the site's folder. */
export const redirectByLinked = (path: string) => redirect(path);
