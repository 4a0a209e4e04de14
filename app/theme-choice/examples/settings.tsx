import "../../tailwind.css";
import { ThemeChoice } from "../theme-choice";

export const meta = () => [{ title: "Settings" }];

export default function Settings() {
  return (
    <main className="mx-auto grid max-w-prose gap-4 p-6">
      <h1>Settings</h1>
      <ThemeChoice />
      <p className="text-slate-700 dark:text-slate-300">For this browser</p>
    </main>
  );
}
