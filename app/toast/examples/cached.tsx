import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";

export const headers = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE });

export const meta = () => [{ title: "List" }];

export default function ToastCached() {
  return (
    <main>
      <h1>List</h1>
    </main>
  );
}
