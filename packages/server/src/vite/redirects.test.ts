import { parseAst, type Rolldown } from "vite";
import { expect, test } from "vitest";
import { enginePath } from "./paths.ts";
import { encodedRedirects } from "./redirects.ts";

const CODE = 'import { redirect } from "react-router";\nexport const go = () => redirect("/");\n';

type Transform = { handler: (code: string, id: string) => { code: string } | undefined };

test.each([
  ["a module of the site", "/site/app/routes/home.tsx", true],
  ["a module of a linked package", "/packages/ui/go.ts", true],
  ["a module of the engine", enginePath("pages/context"), false],
])("%s (%s) imports the redirects that encode a path: %s", (_what, id, isReplaced) => {
  const { handler } = encodedRedirects().transform as unknown as Transform;
  const context = { parse: parseAst } as unknown as Rolldown.TransformPluginContext;
  const replaced = CODE.replace('"react-router"', JSON.stringify(enginePath("pages/react-router")));
  expect(handler.call(context, CODE, id)?.code).toBe(isReplaced ? replaced : undefined);
});
