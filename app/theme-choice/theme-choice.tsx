import { chooseTheme, useTheme } from "./theme";

/** Lets the user choose light or dark. Without scripts or storage, it is disabled. */
export function ThemeChoice() {
  const theme = useTheme();
  return (
    <label>
      Theme{" "}
      <select
        value={theme ?? "system"}
        disabled={!theme}
        onChange={({ target }) => chooseTheme(target.value)}
        autoComplete="off" // Otherwise, Firefox restores that it was disabled.
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
