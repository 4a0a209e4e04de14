import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";

/** The Express application: the life of a request, in order. */
export default defineServer({
  createApp({ receive, collectReports, files, pageCache, admit, compress, build, getLoadContext, handleErrors }) {
    const app = createExpress();
    app.use(receive); // ids, log, security headers; 400 if malformed; 413, or a slot, for a body
    app.post("/browser-reports", collectReports);
    // Yours, for every request: redirects, basic auth. With a path: app.use("/api", admit, api)
    app.use(files); // public/ and hashed assets, and large files with a slot of `admit`; 405 for other methods
    // Pages that set s-maxage, and the not-found page: from memory, or rendered with a slot and without cookies.
    app.use(pageCache);
    // All other pages, and forms:
    app.use(admit); // a slot of overload/, or 503; 403 for forms of other sites
    // Yours, for rendered requests: sessions, rate limits.
    app.use(compress); // what is rendered from here on
    app.use(createRequestHandler({ build, getLoadContext })); // React Router, and its error pages
    app.use(handleErrors);
    return app;
  },
});
