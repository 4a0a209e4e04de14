import type { Route } from "./+types/recovery-codes";

/** The response isn't compressed, so its length reveals no repeated text. */
export const headers: Route.HeadersFunction = () => ({ "Cache-Control": "private, no-cache, no-transform" });

export const loader = () => ({ codes: Array.from({ length: 99 }, (_, index) => `code-${index}`) });

export const meta: Route.MetaFunction = () => [{ title: "Recovery codes" }];

export default function RecoveryCodes({ loaderData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Recovery codes</h1>
      <p>{loaderData.codes.join(", ")}</p>
    </main>
  );
}
