import { useEffect } from "react";
import { redirect, useLocation } from "react-router";
import { type ToastContent, toast } from "./toast";

type RedirectToast = { title: string; description?: string; variant?: ToastContent["variant"] };

/** Browsers accept the prefix only with `Path=/`, so sites below other paths of the origin get the cookie, too. */
const TOAST_COOKIE = "__Host-toast";
/** Browsers ignore a cookie of more than 4,096 bytes. In it, each UTF-16 code unit of a text takes at most 9. */
const MAX_TEXT_LENGTH = 200;
/** Time for the page and its scripts to load on a slow connection. */
const MAX_AGE_S = 60;

const pathOf = (url: string) => new URL(url, "http://localhost").pathname;

/**
 * For actions: redirects (303) to a path of the site, and shows a toast there, once. Longer texts are cut off after 200
 * UTF-16 code units.
 */
export function redirectWithToast(url: string, toast: RedirectToast, init: ResponseInit = {}) {
  // Tabs and sites of an origin share cookies, so the value names the page that shows the toast.
  const value = new URLSearchParams({ to: `${import.meta.env.BASENAME ?? ""}${pathOf(url)}` });
  for (const [name, text] of Object.entries(toast)) if (text) value.set(name, text.slice(0, MAX_TEXT_LENGTH));
  const headers = new Headers(init.headers);
  headers.append("Set-Cookie", `${TOAST_COOKIE}=${value}; Path=/; Max-Age=${MAX_AGE_S}; Secure; SameSite=Lax`);
  return redirect(url, { status: 303, ...init, headers });
}

const COOKIE_PATTERN = new RegExp(`(?:^|; )${TOAST_COOKIE}=([^;]*)`);

/** The toast with which an action has redirected to a page. The loader of a rendered page can read it, too. */
export function readToast(cookies: string | null, url: string) {
  const [, value] = cookies?.match(COOKIE_PATTERN) ?? [];
  const { to, ...content } = Object.fromEntries(new URLSearchParams(value));
  return to === pathOf(url) ? (content as RedirectToast) : undefined;
}

/** Chromium reports an issue for each read of `document.cookie`, since a read blocks the page. */
async function readCookies() {
  if (!window.cookieStore) return document.cookie; // Browsers from before 2025.
  const cookie = await cookieStore.get(TOAST_COOKIE);
  return cookie && `${TOAST_COOKIE}=${cookie.value}`;
}

async function deleteCookie() {
  // biome-ignore lint/suspicious/noDocumentCookie: Browsers from before 2025 lack the Cookie Store API.
  if (!window.cookieStore) document.cookie = `${TOAST_COOKIE}=; Path=/; Max-Age=0; Secure`;
  else await cookieStore.delete(TOAST_COOKIE);
}

/** After each navigation, shows the toast with which an action has redirected to the page. */
export function useRedirectToast() {
  const location = useLocation();
  useEffect(() => {
    let isShown = true;
    const showToast = async () => {
      const content = readToast(
        await readCookies(),
        `${window.location.origin}${import.meta.env.BASENAME}${location.pathname}`,
      );
      if (!content || !isShown) return;
      await deleteCookie();
      toast(content);
    };
    showToast();
    return () => {
      isShown = false;
    };
  }, [location]);
}
