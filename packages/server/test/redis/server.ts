// npm install --save-prod --save-exact @redis/client valibot
import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";
import { createRedisCache } from "react-router-express-server/redis";
import * as v from "valibot";

export default defineServer({
  settings: { REDIS_URL: v.string() },
  openServices({ settings, cache }) {
    cache.connect(createRedisCache({ url: settings.REDIS_URL }));
    return {};
  },
  createApp({ receive, files, pageCache, admit, compress, build, getLoadContext, handleErrors }) {
    const app = createExpress();
    app.use(receive, files, pageCache, admit, compress);
    app.use(createRequestHandler({ build, getLoadContext }));
    app.use(handleErrors);
    return app;
  },
});
