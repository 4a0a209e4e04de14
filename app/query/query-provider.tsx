import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

let browserClient: QueryClient | undefined;

/** One client for the life of a browser tab, a new one for each render on the server. */
function getQueryClient() {
  if (import.meta.env.SSR) return new QueryClient();
  browserClient ??= new QueryClient();
  return browserClient;
}

/** Gives `useQuery` its client. */
export function QueryProvider({ children }: { children: ReactNode }) {
  const [client] = useState(getQueryClient);
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}
