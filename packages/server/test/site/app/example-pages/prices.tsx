import { Link } from "react-router";
import type { Route } from "./+types/prices";
import check from "./check.svg";
import "../tailwind.css";

export const headers: Route.HeadersFunction = () => ({
  "Cache-Control": "public, max-age=0, s-maxage=60, stale-while-revalidate=600, stale-if-error=86400",
});

export const meta: Route.MetaFunction = () => [{ title: "Prices" }];

const PLANS = ["Free", "Team", "Company"];

export default function Prices() {
  return (
    <main className="mx-auto grid max-w-prose gap-4 p-6">
      <h1 className="font-bold text-3xl">Prices</h1>
      <ul className="flex gap-2">
        {PLANS.map((plan) => (
          <li key={plan} className="rounded-lg bg-ink px-4 py-2 text-paper">
            <img src={check} alt="" className="inline" /> {plan}
          </li>
        ))}
      </ul>
      <button type="button">Compare</button>
      <Link to="/" className="underline">
        Home
      </Link>
    </main>
  );
}
