import type { RequestHandler } from "express";
import * as v from "valibot";
import page from "./maintenance.html?raw";

export const maintenanceSettings = { MAINTENANCE: v.optional(v.picklist(["on", "off"]), "off") };

const RETRY_AFTER_S = 600;

/** Search engines keep their pages when the status is 503, and come back. */
export function showMaintenance({ MAINTENANCE }: { MAINTENANCE: "on" | "off" }): RequestHandler {
  return (req, res, next) => {
    if (MAINTENANCE === "off") return next();
    res.status(503).set({ "Retry-After": String(RETRY_AFTER_S), "Cache-Control": "no-store" });
    // For scripts and APIs, text is enough.
    if (req.accepts("html", "text") === "html") res.type("html").send(page);
    else res.type("text").send("Back soon\n");
  };
}
