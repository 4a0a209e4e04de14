import { Tooltip } from "../tooltip";

// A cached page may have tooltips, too.
export const headers = () => ({
  "Cache-Control": "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400",
});

export const meta = () => [{ title: "Tooltips" }];

export default function Tooltips() {
  return (
    <main>
      <h1>Tooltips</h1>
      <Tooltip text="It can be undone">
        <button type="button">Delete</button>
      </Tooltip>
      <Tooltip text="It stays">
        <button type="button">Keep</button>
      </Tooltip>
    </main>
  );
}
