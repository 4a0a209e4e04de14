import { type ActionFunctionArgs, Form, type LoaderFunctionArgs, useLoaderData } from "react-router";
import { readToast, redirectWithToast } from "../redirect-with-toast";

const PAGES = ["redirect", "cached", "own-document", "redirect?name=你好"].map(
  (name) => `/example-pages/toast-${name}`,
);

export const meta = () => [{ title: "Edit" }];

export const loader = ({ request, url }: LoaderFunctionArgs) => ({
  toast: readToast(request.headers.get("Cookie"), url.href),
});

export async function action({ request }: ActionFunctionArgs) {
  const form = await request.formData();
  if (form.get("name") === "locked") {
    return redirectWithToast("/example-pages/toast-redirect", { title: "It is locked", variant: "destructive" });
  }
  const page = PAGES.find((page) => page === form.get("page")) ?? "/";
  return redirectWithToast(page, { title: `Saved ${form.get("name")}` });
}

export default function ToastRedirect() {
  const { toast } = useLoaderData<typeof loader>();
  return (
    <main>
      <h1>Edit</h1>
      <Form method="post">
        <label>
          Name <input name="name" required />
        </label>
        {PAGES.map((page) => (
          <button key={page} type="submit" name="page" value={page}>
            Save, and open {page}
          </button>
        ))}
      </Form>
      {/* Shows without scripts only. */}
      <noscript>{toast && <p>{toast.title}</p>}</noscript>
    </main>
  );
}
