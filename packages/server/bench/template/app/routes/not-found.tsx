import { data, Link } from "react-router";

export const loader = () => data(null, 404);

export const meta = () => [{ title: "Page not found" }];

export default function NotFound() {
  return (
    <main className="screen">
      <h1>404</h1>
      <Link to="/">Home</Link>
    </main>
  );
}
