import { CACHED_FOR_A_MINUTE } from "react-router-express-server/app";

export const headers = () => ({ "Cache-Control": CACHED_FOR_A_MINUTE, "No-Vary-Search": "params" });

export const meta = () => [{ title: "Home" }];

export default function Home() {
  return (
    <main className="screen">
      <h1>Home</h1>
    </main>
  );
}
