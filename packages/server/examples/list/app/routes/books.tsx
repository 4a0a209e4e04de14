import { Form, Link, useNavigation } from "react-router";
import { findBooks } from "../books.server";
import type { Route } from "./+types/books";

export async function loader({ url }: Route.LoaderArgs) {
  const search = (url.searchParams.get("q") ?? "").trim().slice(0, 100);
  const page = Number(url.searchParams.get("page") ?? 1);
  // An address that no link has.
  if (!Number.isInteger(page) || page < 1) throw new Response(null, { status: 404 });
  const { books, count, pageCount } = await findBooks(search, page);
  if (page > pageCount) throw new Response(null, { status: 404 });
  return { search, page, books, count, pageCount };
}

export const meta = ({ loaderData }: Route.MetaArgs) => {
  const { search, page = 1 } = loaderData ?? {};
  return [{ title: `${search ? `Books: ${search}` : "Books"}${page > 1 ? `, page ${page}` : ""}` }];
};

export default function Books({ loaderData }: Route.ComponentProps) {
  const { search, page, books, count, pageCount } = loaderData;
  const isLoading = useNavigation().state === "loading";
  return (
    <main aria-busy={isLoading}>
      <h1>Books</h1>
      {/* A new search starts at the first page. With the key, the field shows the search of the URL, also after Back. */}
      <Form role="search" key={search}>
        <label htmlFor="q">Title or author</label>
        <input id="q" name="q" type="search" defaultValue={search} maxLength={100} autoComplete="off" />
        <button type="submit">Search</button>
      </Form>

      <p aria-live="polite">{describe(count, search)}</p>
      {count > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Title</th>
              <th scope="col">Author</th>
              <th scope="col">Year</th>
            </tr>
          </thead>
          <tbody>
            {books.map(({ title, author, year }) => (
              <tr key={title}>
                <th scope="row">{title}</th>
                <td>{author}</td>
                <td>{year}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {pageCount > 1 && (
        <nav aria-label="Pages">
          {page > 1 && (
            <Link to={toQuery(search, page - 1)} rel="prev" prefetch="intent">
              ← Previous
            </Link>
          )}{" "}
          Page {page} of {pageCount}{" "}
          {page < pageCount && (
            <Link to={toQuery(search, page + 1)} rel="next" prefetch="intent">
              Next →
            </Link>
          )}
        </nav>
      )}
      {search !== "" && (
        <p>
          <Link to="/books">Show all books</Link>
        </p>
      )}
    </main>
  );
}

function describe(count: number, search: string) {
  const books = count === 1 ? "1 book" : `${count || "No"} books`;
  return search === "" ? books : `${books} for “${search}”`;
}

/** The first page has no number, so that each page has one address. */
function toQuery(search: string, page: number) {
  const query = new URLSearchParams({ ...(search && { q: search }), ...(page > 1 && { page: String(page) }) });
  return `/books?${query}`.replace(/\?$/, "");
}
