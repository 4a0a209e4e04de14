import { useQuery } from "@tanstack/react-query";

export const meta = () => [{ title: "Count" }];

export default function Count() {
  const { data } = useQuery({
    queryKey: ["count"],
    queryFn: async () =>
      (await fetch(`${import.meta.env.BASENAME}/example-pages/basket-items`)).json() as Promise<number>,
  });
  return (
    <main>
      <h1>Count</h1>
      <p>Items: {data}</p>
    </main>
  );
}
