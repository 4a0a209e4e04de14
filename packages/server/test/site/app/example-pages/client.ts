import type { Route } from "./+types/client";
import { clientContext } from "./context";

export const loader = ({ context }: Route.LoaderArgs) => Response.json({ client: context.get(clientContext) });
