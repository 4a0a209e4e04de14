import { createContext } from "react-router";
import type { Preview } from "./preview.server";

export const previewContext = createContext<Preview>();

/** Whether the page is for an editor. Cached pages never are. */
export const isPreviewContext = createContext(false);
