import type { Config } from "@react-router/dev/config";
import { copyPreviousAssets } from "./client-assets.ts";
import { composeNames } from "./compose-names.ts";
import { copyPackages } from "./copy-packages.ts";
import { movePrerendered } from "./move-prerendered.ts";
import { finishPrecompressing } from "./precompress.ts";
import { moveSourceMaps } from "./source-maps.ts";

/** Completes React Router's build. */
export const buildEnd: NonNullable<Config["buildEnd"]> = async ({ viteConfig }) => {
  await moveSourceMaps();
  await movePrerendered();
  await composeNames("build/client");
  await finishPrecompressing();
  await copyPreviousAssets(process.env.PREVIOUS_BUILD);
  await copyPackages(viteConfig.environments.ssr?.resolve.external);
};
