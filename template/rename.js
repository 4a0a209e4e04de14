// `npm run rename -- our-shop` names the site, once: then it removes itself.
import { existsSync, renameSync } from "node:fs";
import { finish, listFiles, removed, removeScript, replace } from "./files.js";

const [name = ""] = process.argv.slice(2);
// npm, Docker, DNS and Grafana accept such names.
if (!/^[a-z]([a-z\d-]{0,38}[a-z\d])?$/.test(name)) {
  console.error("Name the site: npm run rename -- our-shop (a to z, 0 to 9 and hyphens, at most 40)");
  process.exit(1);
}
const title = name.replaceAll("-", " ").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

if (existsSync("deploy/greeting.service")) {
  renameSync("deploy/greeting.service", `deploy/${name}.service`);
  removed.push("deploy/greeting.service");
}

/** The parts that are the site's name. Elsewhere, the word is the greeting that the page shows. */
const NAMES = {
  "CONTRIBUTING.md": /greeting(?=:X)/g,
  LICENSE: /Greeting/g,
  "app/layout/site-layout.tsx": /Greeting/g,
  "README.md": /(?<=^# )Greeting|(?<=^ {4}.*)greeting/gm, // the heading, and commands
  // create-react-router names the package after its folder.
  "package.json": /(?<=^ {2}"name": ").*(?=")/gm,
  "package-lock.json": /(?<=^ {2}"name": "|^ {4}"": \{\n {6}"name": ").*(?=")/gm,
  "public/site.webmanifest": /Greeting/g,
  ...Object.fromEntries(listFiles("deploy").map((file) => [file, /greeting/gi])),
};

for (const [file, parts] of Object.entries(NAMES)) {
  replace(file, parts, (word) => (word === "Greeting" ? title : name));
}
replace("README.md", /.*npm run rename.*\n/, "");
removeScript("rename");
finish();
