import type { VitePluginOptions } from "vite-imagetools";

/** For `import photo from "./photo.jpg?picture"`: these widths, none wider than the original, in these formats. */
const DIRECTIVES = new URLSearchParams({ w: "400;800;1200;1600", format: "avif;jpeg", as: "picture" });
DIRECTIVES.set("withoutEnlargement", "");

export const PICTURES: Partial<VitePluginOptions> = {
  defaultDirectives: (url) => (url.searchParams.has("picture") ? DIRECTIVES : new URLSearchParams()),
};
