import { createCookie } from "react-router";

/** The browser sends it with the provider's form: a cookie with `SameSite=Lax` isn't sent with a cross-site POST. */
export const stateCookie = createCookie("__Host-state", {
  path: "/",
  secure: true,
  httpOnly: true,
  sameSite: "none",
  maxAge: 10 * 60,
});
