// `npm run rename -- our-shop` names the site, and makes a product of the template. A second run only lists the files with
// the name: another name may be a word of other texts, too.
import { existsSync, readFileSync, renameSync } from "node:fs";
import { leaveOutEngineTests } from "./engine-tests.js";
import { finish, listFiles, removed, removeFiles, replace } from "./files.js";

const TEST = "test/rename.long.ts";

const [name = ""] = process.argv.slice(2);
// npm, Docker, DNS and Grafana accept such names.
if (!/^[a-z]([a-z\d-]{0,38}[a-z\d])?$/.test(name)) {
  console.error("Name the site: npm run rename -- our-shop (a to z, 0 to 9 and hyphens, at most 40)");
  process.exit(1);
}
const title = name.replaceAll("-", " ").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

const { name: currentTitle } = JSON.parse(readFileSync("public/site.webmanifest", "utf8"));
if (currentTitle !== "Greeting") {
  const currentName = currentTitle.toLowerCase().replaceAll(" ", "-");
  const files = [
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "package.json",
    "package-lock.json",
    "public/site.webmanifest",
  ];
  const named = [...files, "app/layout/site-layout.tsx", ...listFiles("deploy")].filter((file) => {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    return text.includes(currentTitle) || text.includes(currentName);
  });
  console.log(`The site is called ${currentTitle} already. For another name, replace it by hand in`);
  for (const file of named) console.log(`  ${file}`);
  process.exit(currentName === name ? 0 : 1);
}

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
leaveOutEngineTests();
removeFiles([TEST]);
finish();
console.log("left for you: the greeting's texts, colours and icons (docs/make-it-yours.md), and README.md");
console.log("left for you: features that you don't need (npm run remove)");
console.log("left for you: npm install, since package.json has changed");
