import {
  dehydrate,
  HydrationBoundary,
  keepPreviousData,
  QueryClient,
  queryOptions,
  useQuery,
} from "@tanstack/react-query";
import { useState } from "react";
import { Form, useSearchParams } from "react-router";
import type { Route } from "./+types/dashboard";
import { Bars } from "./bars";
import { loadNumbers, type Numbers } from "./numbers.server";
import { findPeriod, PERIODS } from "./period";

const INTERVAL_MS = 5000;

const numbersQuery = (days: number) =>
  queryOptions({
    queryKey: ["numbers", days],
    queryFn: async ({ signal }): Promise<Numbers> => {
      const response = await fetch(`${import.meta.env.BASENAME}/dashboard/numbers?days=${days}`, { signal });
      if (!response.ok) throw new Error(`The numbers have status ${response.status}`);
      return response.json();
    },
    staleTime: INTERVAL_MS,
  });

/** The page has its first numbers without scripts. */
export async function loader({ url }: Route.LoaderArgs) {
  const days = findPeriod(url.searchParams);
  const client = new QueryClient();
  await client.query({ ...numbersQuery(days), queryFn: () => loadNumbers(days) });
  return dehydrate(client);
}

export const meta: Route.MetaFunction = () => [{ title: "Dashboard" }];

export default function DashboardPage({ loaderData }: Route.ComponentProps) {
  return (
    <HydrationBoundary state={loaderData}>
      <main>
        <h1>Dashboard</h1>
        <Dashboard />
      </main>
    </HydrationBoundary>
  );
}

function Dashboard() {
  const days = findPeriod(useSearchParams()[0]);
  const [isLive, setLive] = useState(true);
  const { data, isError, refetch } = useQuery({
    ...numbersQuery(days),
    // A hidden tab doesn't fetch.
    refetchInterval: isLive && INTERVAL_MS,
    // Until the numbers of another period arrive, the page shows the last ones.
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Form>
        <label htmlFor="days">Period</label>
        {/* With the key, the list shows the period of the URL, also after Back. */}
        <select id="days" name="days" defaultValue={days} key={days}>
          {PERIODS.map((period) => (
            <option key={period} value={period}>
              {period} days
            </option>
          ))}
        </select>
        <button type="submit">Show</button>
      </Form>
      {data && <Figures {...data} />}
      {/* Who reads slowly can stop the updates: WCAG 2.2.2. */}
      <label>
        <input type="checkbox" checked={isLive} onChange={({ target }) => setLive(target.checked)} />
        Update every {INTERVAL_MS / 1000} seconds
      </label>
      <div role="alert">
        {isError && (
          <>
            The numbers can’t be updated.{" "}
            <button type="button" onClick={() => refetch()}>
              Try again
            </button>
          </>
        )}
      </div>
    </>
  );
}

function Figures({ visitors, orders, days, time }: Numbers) {
  return (
    <>
      <table>
        <tbody>
          <tr>
            <th scope="row">Visitors now</th>
            <td>{visitors}</td>
          </tr>
          <tr>
            <th scope="row">Orders in {days.length} days</th>
            <td>{orders}</td>
          </tr>
        </tbody>
      </table>
      <figure>
        <Bars days={days} />
        <figcaption>
          Orders by day, at <time dateTime={time}>{time.slice(11, 19)} UTC</time>
        </figcaption>
      </figure>
      <details>
        <summary>Orders by day, as a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Orders</th>
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.date}>
                <th scope="row">{day.date}</th>
                <td>{day.orders}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
