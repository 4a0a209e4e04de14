import type { ActionFunction, LoaderFunction, LoaderFunctionArgs, ServerBuild } from "react-router";
import { endedContext } from "../../pages/context.ts";
import { withLimitedData } from "./limited-data.ts";

type Handle = LoaderFunction | ActionFunction;

/**
 * Returns the build with loaders, actions and middleware whose streams are cancelled if nothing has read them when the request has
 * ended. React Router drops the response of a loader that ends after its client has left, and of one whose middleware
 * sends another: a file that it streams would stay open. In 7.18.6 only a HEAD cancels it
 * (remix-run/react-router#15784).
 */
export function cancelUnreadBodies(build: ServerBuild): ServerBuild {
  const routes = Object.entries(build.routes).map(([id, route]) => {
    if (!route) return [id, route];
    const { loader, action, middleware, default: component } = route.module;
    const wrap = (handle: Handle) => withCancel(component ? handle : withLimitedData(handle));
    const module = {
      ...route.module,
      ...(loader && { loader: wrap(loader) }),
      ...(action && { action: wrap(action) }),
      ...(middleware && { middleware: middleware.map(withCancel) }),
    };
    return [id, { ...route, module }];
  });
  return { ...build, routes: Object.fromEntries(routes) };
}

function withCancel<Rest extends unknown[], Result>(handle: (args: LoaderFunctionArgs, ...rest: Rest) => Result) {
  return async (args: LoaderFunctionArgs, ...rest: Rest) => {
    const ended = args.context.get(endedContext);
    const cancelLater = (result: unknown) => result instanceof Response && ended?.then(() => cancelUnread(result));
    try {
      const result = await handle(args, ...rest);
      cancelLater(result);
      return result;
    } catch (error) {
      cancelLater(error);
      throw error;
    }
  };
}

function cancelUnread({ body, bodyUsed }: Response) {
  if (!bodyUsed && !body?.locked) body?.cancel().catch(() => {}); // A file that can't be opened rejects it.
}
