import type { ServerBuild } from "react-router";
import { expect, test } from "vitest";
import { checkBuild } from "./check-build.ts";

const ROOT = { id: "root", module: {} };
const HOME = { id: "home", parentId: "root", module: { loader() {} } };

test.each([
  ["as React Router 7.18 makes it", HOME, { module: "/assets/home.js" }, false],
  ["with a parent by another name", { ...HOME, parentId: undefined, parent: "root" }, { module: "/home.js" }, true],
  ["whose module is loaded later", { ...HOME, module: undefined, lazy() {} }, { module: "/home.js" }, true],
  ["without an entry in the manifest", HOME, undefined, true],
])("a start with a route %s", (_form, home, asset, isRejected) => {
  const build = {
    routes: { root: ROOT, home },
    assets: { routes: { root: { module: "/assets/root.js" }, home: asset } },
  };
  const check = () => checkBuild(build as unknown as ServerBuild);
  if (isRejected) expect(check).toThrow("the route home");
  else expect(check).not.toThrow();
});
