// What the modules of a site get from "react-router" (vite/redirects.ts). Its own `redirect` puts the URL into a header
// as it is, so "/Zoë" leads to another path, and "/你好" throws (remix-run/react-router#13857).
import * as router from "react-router";
import { encodeLocation } from "../http/encode-location.ts";

export * from "react-router";

export const redirect: typeof router.redirect = (url, init) => router.redirect(encodeLocation(url), init);

export const redirectDocument: typeof router.redirectDocument = (url, init) =>
  router.redirectDocument(encodeLocation(url), init);

export const replace: typeof router.replace = (url, init) => router.replace(encodeLocation(url), init);
