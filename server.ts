import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";

/** The Express application: the life of a request, in order. */
export default defineServer({
  createApp({ receive, collectReports, files, pageCache, admit, compress, build, getLoadContext, handleErrors }) {
    const app = createExpress();
    app.use(receive); // ids, log, security headers; malformed requests and large bodies are rejected
    app.post("/browser-reports", collectReports);
    // Yours, for every request: redirects, basic auth, webhooks, API routers.
    app.use(files); // public/ and hashed assets, from memory; 405 for a method that the page doesn't have
    app.use(pageCache); // pages that set s-maxage, the not-found page too: rendered once for everyone, without cookies
    app.use(admit); // load shedding, the check of the origin
    // Yours, for rendered requests: sessions, rate limits.
    app.use(compress);
    app.use(createRequestHandler({ build, getLoadContext }));
    app.use(handleErrors);
    return app;
  },
});
