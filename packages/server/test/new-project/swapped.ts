import { join } from "node:path";
import compression from "compression";
import express from "express";
import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";
import * as v from "valibot";

const CLIENT_FOLDER = join(import.meta.dirname, "../../client");

/** The setting names the part that another package replaces, or that is left out. */
export default defineServer({
  settings: { SWAPPED: v.picklist(["files", "pageCache", "compress"]) },
  createApp({ settings, receive, collectReports, admit, build, getLoadContext, handleErrors, ...parts }) {
    const app = createExpress();
    app.use(receive);
    app.post("/browser-reports", collectReports);
    app.use(settings.SWAPPED === "files" ? express.static(CLIENT_FOLDER) : parts.files);
    if (settings.SWAPPED !== "pageCache") app.use(parts.pageCache);
    app.use(admit);
    app.use(settings.SWAPPED === "compress" ? compression() : parts.compress);
    app.use(createRequestHandler({ build, getLoadContext }));
    app.use(handleErrors);
    return app;
  },
});
