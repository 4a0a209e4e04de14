import { renderToStaticMarkup } from "react-dom/server";
import { createRoutesStub } from "react-router";
import { expect, test, vi } from "vitest";
import { Layout } from "../root";
import { Tooltip } from "./tooltip";

const Page = () => (
  <Layout>
    <Tooltip text="It can be undone">
      <button type="button">Delete</button>
    </Tooltip>
  </Layout>
);

test("tooltips work in the layout, so in every page and in the error page", () => {
  vi.spyOn(console, "error").mockReturnValue(); // The stub has no scripts, so their addresses are empty.
  const Stub = createRoutesStub([{ path: "/", Component: Page }]);
  expect(renderToStaticMarkup(<Stub />)).toContain(">Delete</button>");
});
