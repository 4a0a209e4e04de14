// The server of the simulation (scaling.ts). Its processes share their pages in Redis, or else only invalidations.
import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";
import { createRedisCache } from "react-router-express-server/redis";
import * as v from "valibot";

export default defineServer({
  settings: { REDIS_URL: v.string(), PURGE_URL: v.string(), SHARES_PAGES: v.picklist(["true", "false"]) },
  openServices({ settings, cache }) {
    const { publish, subscribe, store } = createRedisCache({ url: settings.REDIS_URL });
    cache.connect(settings.SHARES_PAGES === "true" && store ? { publish, subscribe, store } : { publish, subscribe });
    return {
      purge: {
        toHeaders: (tags) => ({ "Cache-Tag": tags.join(",") }),
        send: ({ tags }) => fetch(settings.PURGE_URL, { method: "POST", body: tags.join(",") }),
      },
    };
  },
  createApp({ receive, files, pageCache, admit, compress, build, getLoadContext, handleErrors }) {
    const app = createExpress();
    app.use(receive, files, pageCache, admit, compress);
    app.use(createRequestHandler({ build, getLoadContext }));
    app.use(handleErrors);
    return app;
  },
});
