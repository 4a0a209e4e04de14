import { createHash, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { createCookie, type RouterContextProvider } from "react-router";
import * as v from "valibot";
import { isPreviewContext } from "./context.ts";

export const previewSettings = {
  PREVIEW_SECRET: v.pipe(v.string(), v.minLength(32, "at least 32 characters")),
};

// With this prefix, browsers accept it over HTTPS only, and from no other host of the domain.
const NAME = "__Host-preview";
const EIGHT_HOURS = 8 * 60 * 60;

type GetLoadContext = (req: Request, res: Response) => RouterContextProvider | Promise<RouterContextProvider>;

export function createPreview({ PREVIEW_SECRET }: { PREVIEW_SECRET: string }) {
  const cookie = createCookie(NAME, {
    path: "/",
    secure: true,
    httpOnly: true,
    sameSite: "lax",
    maxAge: EIGHT_HOURS,
    secrets: [PREVIEW_SECRET],
  });
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return {
    isSecret: (text: string) => timingSafeEqual(hash(text), hash(PREVIEW_SECRET)),
    start: () => cookie.serialize("editor"),
    end: () => cookie.serialize("", { maxAge: 0 }),
    /** The page cache, which requests of editors skip. */
    skip(pageCache: RequestHandler): RequestHandler {
      return async (req, res, next) => {
        const cookies = req.headers.cookie;
        if (cookies?.includes(NAME)) res.locals.isPreview = (await cookie.parse(cookies)) === "editor";
        return res.locals.isPreview ? next() : pageCache(req, res, next);
      };
    },
    /** Tells loaders that a request is an editor's. */
    mark(getLoadContext: GetLoadContext): GetLoadContext {
      return async (req, res) => {
        const context = await getLoadContext(req, res);
        context.set(isPreviewContext, res.locals.isPreview === true);
        return context;
      };
    },
  };
}

export type Preview = ReturnType<typeof createPreview>;
