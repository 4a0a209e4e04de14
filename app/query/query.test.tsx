import { useQuery } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { createRoutesStub } from "react-router";
import { expect, test, vi } from "vitest";
import { Layout } from "../root";

const Query = () => <p>{useQuery({ queryKey: ["query"], queryFn: () => "data" }).status}</p>;

const Page = () => (
  <Layout>
    <Query />
  </Layout>
);

test("queries work in the layout, so in every page and in the error page", () => {
  vi.spyOn(console, "error").mockReturnValue(); // The stub has no scripts, so their addresses are empty.
  const Stub = createRoutesStub([{ path: "/", Component: Page }]);
  expect(renderToStaticMarkup(<Stub />)).toContain("<p>pending</p>");
});
