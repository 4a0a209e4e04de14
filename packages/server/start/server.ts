import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";

export default defineServer({
  createApp({ receive, collectReports, files, pageCache, admit, compress, build, getLoadContext, handleErrors }) {
    const app = createExpress();
    app.use(receive);
    app.post("/browser-reports", collectReports);
    app.use(files, pageCache, admit, compress);
    app.use(createRequestHandler({ build, getLoadContext }));
    app.use(handleErrors);
    return app;
  },
});
