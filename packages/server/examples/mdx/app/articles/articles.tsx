import { Link } from "react-router";
import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";
import type { Route } from "./+types/articles";

/** The latest is first. */
const ARTICLES = [
  { path: "/articles/coffee", title: "How much coffee?", date: "2026-11-20" },
  { path: "/articles/water", title: "Soft water", date: "2026-10-02" },
];

export const headers: Route.HeadersFunction = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const meta: Route.MetaFunction = () => [{ title: "Articles" }];

export default function Articles() {
  return (
    <main>
      <h1>Articles</h1>
      <ul>
        {ARTICLES.map(({ path, title, date }) => (
          <li key={path}>
            <Link to={path}>{title}</Link>
            <br />
            <small>
              <time dateTime={date}>{date}</time>
            </small>
          </li>
        ))}
      </ul>
    </main>
  );
}
