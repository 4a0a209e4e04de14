import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import type { LaunchOptions } from "playwright-core";

const CANDIDATES = [
  "/usr/bin/chromium-headless-shell", // It has no windows, and needs half the time.
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome-stable",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Importing Playwright takes a second of CPU time, and most test files need no browser. */
const importChromium = () =>
  (createRequire(import.meta.url)("playwright-core") as typeof import("playwright-core")).chromium;

/** The browser to test with: `CHROMIUM`, or an installed Chromium or Chrome, or Playwright's own. */
function findChromium() {
  const { CHROMIUM } = process.env;
  if (CHROMIUM) return CHROMIUM;
  const installed = CANDIDATES.find((path) => existsSync(path));
  if (installed) return installed;
  const own = importChromium().executablePath();
  return existsSync(own) ? own : undefined;
}

/** Installs Chromium if it is missing, and logs its path. If that fails, throws an error that says what to do. */
export function installChromium() {
  if (!findChromium()) install();
  const path = findChromium();
  if (!path) throw new Error("The tests need Chromium: install it, or name its path in CHROMIUM.");
  console.log(`Chromium: ${path}${/headless.shell/.test(path) ? "" : `. ${FASTER}`}`);
}

const FASTER =
  "chromium-headless-shell takes half the time: on Debian, apt-get install it. Elsewhere, " +
  "npx playwright-core install chromium-headless-shell, and name its path in CHROMIUM.";

function install() {
  const isDebianRoot = existsSync("/etc/debian_version") && process.getuid?.() === 0;
  const commands = isDebianRoot
    ? ["apt-get update", "apt-get install -y --no-install-recommends chromium-headless-shell"]
    : ["npx playwright-core install chromium"];
  console.log(`No Chromium found, so: ${commands.join(" && ")}`);
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    for (const command of commands)
      execFileSync("sh", ["-c", command], { stdio: ["ignore", "ignore", "inherit"], env });
  } catch {} // installChromium throws.
}

/** Launches Chromium, with further options of Playwright. It sends requests for pages only. */
export function launchChromium(options: LaunchOptions = {}) {
  return importChromium().launch({
    executablePath: findChromium() as string,
    ...options,
    args: [
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-gpu",
      "--disable-quic",
      "--disable-sync",
      "--no-first-run",
      "--renderer-process-limit=1", // A page then takes a fifth less CPU time, since it starts no process.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      ...(options.args ?? []),
    ],
  });
}
