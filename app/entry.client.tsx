import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { reloadOldTab, sendErrorReport, sendWebVitals } from "react-router-express-server/app";

// Adds to the framework's default: reports of errors, and a reload if a file of an earlier release is gone.
function handleError(error: unknown) {
  sendErrorReport(error);
  reloadOldTab(error);
}

addEventListener("error", ({ error }) => handleError(error));
addEventListener("unhandledrejection", ({ reason }) => handleError(reason));
sendWebVitals();

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <HydratedRouter onError={handleError} />
    </StrictMode>,
  );
});
