import compression from "compression";
import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";

export default defineServer({
  createApp({ receive, collectReports, files, admit, build, getLoadContext, handleErrors }) {
    const app = createExpress();
    app.use(receive);
    app.post("/browser-reports", collectReports);
    app.use(files, admit, compression());
    app.use(createRequestHandler({ build, getLoadContext }));
    app.use(handleErrors);
    return app;
  },
});
