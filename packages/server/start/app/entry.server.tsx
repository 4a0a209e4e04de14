import { type EntryContext, type RouterContextProvider, ServerRouter } from "react-router";
import { renderDocument } from "react-router-express-server";

export { handleDataRequest, handleError, instrumentations, streamTimeout } from "react-router-express-server";

export default function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  routerContext: EntryContext,
  loadContext: RouterContextProvider,
) {
  return renderDocument((nonce) => <ServerRouter context={routerContext} url={request.url} nonce={nonce} />, {
    request,
    status,
    headers,
    loadContext,
  });
}
