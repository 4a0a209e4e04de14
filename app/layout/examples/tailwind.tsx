import "../../tailwind.css";

export const meta = () => [{ title: "Tailwind in the layout" }];

export default function TailwindInLayout() {
  return (
    <main className="mx-auto grid max-w-prose gap-4 p-6">
      <h1 className="text-lg">Tailwind in the layout</h1>
      <p>Utilities take precedence.</p>
      <input aria-label="Name" className="rounded-none" />
      <button type="button" className="bg-transparent">
        Save
      </button>
    </main>
  );
}
