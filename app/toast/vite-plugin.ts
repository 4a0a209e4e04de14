import type { Plugin } from "vite";

/** Removes the style element that Sonner inserts, since the Content-Security-Policy blocks it. */
export function withoutToastStyles(): Plugin {
  const plugin: Plugin = {
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
  // In development, Vite bundles packages without the plugins of the config.
  return { ...plugin, config: () => ({ optimizeDeps: { rolldownOptions: { plugins: [plugin] } } }) };
}
