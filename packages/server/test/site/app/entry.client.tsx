import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { sendErrorReport } from "react-router-express-server/app";

// Adds to the framework's default: reports of errors.
addEventListener("error", ({ error }) => sendErrorReport(error));
addEventListener("unhandledrejection", ({ reason }) => sendErrorReport(reason));

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <HydratedRouter onError={sendErrorReport} />
    </StrictMode>,
  );
});
