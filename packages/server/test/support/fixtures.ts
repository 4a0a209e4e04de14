import { createTest } from "react-router-express-server/testing";
import { SITE } from "./site.ts";

export { NOT_FOUND_MESSAGES, open } from "react-router-express-server/testing";
export { expect } from "vitest";

export const test = createTest(SITE);
