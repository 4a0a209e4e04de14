import type { ActionFunction, LoaderFunction, ServerBuild } from "react-router";
import { endedContext } from "../../pages/context.ts";
import { withLimitedData } from "./limited-data.ts";

type Handle = LoaderFunction | ActionFunction;

/**
 * Returns the build with loaders and actions whose streams are cancelled if nothing has read them when the request has
 * ended. React Router drops the response of a loader that ends after its client has left, and of one whose middleware
 * sends another: a file that it streams would stay open. In 7.18.6 only a HEAD cancels it
 * (remix-run/react-router#15784).
 */
export function cancelUnreadBodies(build: ServerBuild): ServerBuild {
  const routes = Object.entries(build.routes).map(([id, route]) => {
    if (!route) return [id, route];
    const { loader, action, default: component } = route.module;
    const module = {
      ...route.module,
      ...(loader && { loader: withCancel(component ? loader : withLimitedData(loader)) }),
      ...(action && { action: withCancel(action) }),
    };
    return [id, { ...route, module }];
  });
  return { ...build, routes: Object.fromEntries(routes) };
}

function withCancel(handle: Handle): Handle {
  return async (args, ...rest) => {
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
