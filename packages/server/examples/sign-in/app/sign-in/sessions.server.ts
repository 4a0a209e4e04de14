import { createCookieSessionStorage } from "react-router";
import * as v from "valibot";

export const sessionSettings = {
  SESSION_SECRET: v.pipe(v.string(), v.minLength(32, "at least 32 characters")),
};

/** The cookie has the session itself, signed: users can read it, but not change it. */
export const createSessions = (settings: { SESSION_SECRET: string }) =>
  createCookieSessionStorage<{ email: string }>({
    cookie: {
      // With this prefix, browsers accept it over HTTPS only, and from no other host of the domain.
      name: "__Host-session",
      path: "/",
      secure: true,
      httpOnly: true,
      sameSite: "lax",
      maxAge: 30 * 24 * 60 * 60,
      secrets: [settings.SESSION_SECRET],
    },
  });
