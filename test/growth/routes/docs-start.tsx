import type { Route } from "./+types/docs-start";

export const meta: Route.MetaFunction = () => [{ title: "Handbook" }];

export default function DocsStart() {
  return <h1>Handbook</h1>;
}
