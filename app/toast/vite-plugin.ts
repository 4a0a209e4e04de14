import type { Plugin } from "vite";

/** Removes the style element that Sonner inserts, since the Content-Security-Policy blocks it. */
export function withoutToastStyles(): Plugin {
  return {
    name: "without-toast-styles",
    transform: {
      filter: { id: /\/sonner\/dist\/index\.mjs/ },
      handler(code) {
        const calls = code.match(/^__insertCSS\(".*"\);?$/gm) ?? [];
        if (calls.length !== 1) this.error("Sonner has changed how it inserts its styles: adapt app/toast/");
        return { code: code.replace(calls[0] as string, ""), map: null };
      },
    },
  };
}
