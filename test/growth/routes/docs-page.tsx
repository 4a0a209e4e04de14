import type { Route } from "./+types/docs-page";

const TITLES = new Map([["setup/linux", "How to set it up on Linux"]]);

export function loader({ params }: Route.LoaderArgs) {
  const title = TITLES.get(params["*"]);
  if (!title) throw new Response(null, { status: 404 });
  return { title };
}

export const meta: Route.MetaFunction = ({ loaderData }) => [{ title: loaderData?.title }];

export default function DocsPage({ loaderData }: Route.ComponentProps) {
  return <h1>{loaderData.title}</h1>;
}
