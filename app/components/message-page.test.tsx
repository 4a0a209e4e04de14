import { renderToStaticMarkup } from "react-dom/server";
import { createRoutesStub } from "react-router";
import { expect, test } from "vitest";
import { MessagePage } from "./message-page";

const Teapot = () => <MessagePage heading="418" text="No coffee here" />;

test("a message has a heading, a text and a link home", () => {
  // Links need a router around them.
  const Stub = createRoutesStub([{ path: "/teapot", Component: Teapot }]);
  const html = renderToStaticMarkup(<Stub initialEntries={["/teapot"]} />);
  expect(html).toContain("<h1>418</h1>");
  expect(html).toContain("<p>No coffee here</p>");
  expect(html).toMatch(/<a href="\/"[^>]*>/);
});
