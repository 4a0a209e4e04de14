import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { reportError } from "./report-error";

// Adds to the framework's default: reports of errors.
addEventListener("error", ({ error }) => reportError(error));
addEventListener("unhandledrejection", ({ reason }) => reportError(reason));

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <HydratedRouter onError={reportError} />
    </StrictMode>,
  );
});
