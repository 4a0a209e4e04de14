import { useLayoutEffect, useSyncExternalStore } from "react";
import { useNonce } from "react-router-express-server/app";

type Theme = "system" | "light" | "dark";

/** Applies the stored choice to the document. It uses nothing outside itself, since the document has its text. */
function applyTheme() {
  let theme: string;
  try {
    theme = localStorage.getItem("theme") ?? "system";
  } catch {
    return; // The browser blocks storage.
  }
  document.documentElement.dataset.theme = theme;
  for (const meta of document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color][media]")) {
    meta.dataset.media ??= meta.media;
    const isChosen = meta.dataset.media.includes(theme);
    meta.media = theme === "system" ? meta.dataset.media : isChosen ? "all" : "not all";
  }
}

/** Applies the choice: before the first paint by a script in the document, since the bundle loads later. */
export function ThemeScript() {
  const nonce = useNonce();
  useTheme(); // Follows other tabs.
  useLayoutEffect(applyTheme, []); // For an error page, React makes the document again, without the attribute.
  return (
    <script nonce={nonce} suppressHydrationWarning>
      {`(${applyTheme})()`}
    </script>
  );
}

/** The browser dispatches `storage` for a change in another tab. In the back/forward cache, a page misses it. */
const EVENTS = ["storage", "pageshow"];

function subscribe(onChange: () => void) {
  const update = () => {
    applyTheme();
    onChange();
  };
  for (const event of EVENTS) addEventListener(event, update);
  return () => {
    for (const event of EVENTS) removeEventListener(event, update);
  };
}

const getTheme = () => document.documentElement.dataset.theme as Theme | undefined;

/** The user's choice. It is undefined on the server, and if the browser blocks storage. */
export const useTheme = () => useSyncExternalStore(subscribe, getTheme, () => undefined);

export function chooseTheme(theme: string) {
  localStorage.setItem("theme", theme);
  dispatchEvent(new StorageEvent("storage")); // The browser dispatches it in other tabs only.
}
