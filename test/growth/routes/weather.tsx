import { useQuery } from "@tanstack/react-query";
import { notify } from "../notify";
import { toast } from "../toast";
import { Tooltip } from "../tooltip";
import type { Route } from "./+types/weather";

export const meta: Route.MetaFunction = () => [{ title: "Weather" }];

async function fetchTemperature(): Promise<{ celsius: number }> {
  const response = await fetch("/temperature");
  if (!response.ok) throw new Error(`/temperature answers ${response.status}`);
  return response.json();
}

export default function Weather() {
  const { data, refetch } = useQuery({ queryKey: ["temperature"], queryFn: fetchTemperature });
  return (
    <main className="screen">
      <h1>Weather</h1>
      <p>{data ? `${data.celsius} °C` : "Measuring"}</p>
      <Tooltip text="Asks the thermometer">
        <button type="button" onClick={() => refetch().then(() => toast({ title: "Measured again" }))}>
          Measure
        </button>
      </Tooltip>
      <button type="button" onClick={() => notify("You will hear of storms")}>
        Subscribe
      </button>
    </main>
  );
}
