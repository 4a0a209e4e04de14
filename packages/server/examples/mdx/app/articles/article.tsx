import { Link, Outlet } from "react-router";

/** Around each article. */
export default function Article() {
  return (
    <main>
      <Outlet />
      <hr />
      <p>
        <Link to="/articles">All articles</Link>
      </p>
    </main>
  );
}
