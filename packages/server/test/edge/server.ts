// npm install --save-prod --save-exact valibot
import { createExpress, createRequestHandler, defineServer } from "react-router-express-server";
import { createNginxPurge, createVarnishPurge } from "react-router-express-server/purge";
import * as v from "valibot";

const UrlsSchema = v.pipe(
  v.string(),
  v.transform((urls) => urls.split(",")),
);

export default defineServer({
  settings: { VARNISH_URLS: v.optional(UrlsSchema), NGINX_URLS: v.optional(UrlsSchema, "") },
  openServices({ settings }) {
    return {
      purge: settings.VARNISH_URLS
        ? createVarnishPurge({ urls: settings.VARNISH_URLS })
        : createNginxPurge({ urls: settings.NGINX_URLS }),
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
