// Writes the cached pages of the build, their data and the site's files to build/static/, with their headers for nginx.
//     node static-export.js [PATH...]     for pages that no page links to
import { spawn } from "node:child_process";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const FOLDER = "build/static";
const FILES = `${FOLDER}/files`;
/** A path that no site has, below the base path. */
const UNKNOWN = "static-export/not-found";
/** Of one response, or made by nginx itself. */
const NOT_COPIED =
  /^(age|cache-status|connection|content-(encoding|length|type)|date|etag|keep-alive|last-modified|location|transfer-encoding|vary|x-request-id)$/;

/** Starts the build on a free port. Resolves when all pages without parameters are rendered. */
async function startServer() {
  const env = {
    ...process.env,
    NODE_ENV: "production",
    HOST: "127.0.0.1",
    PORT: "0",
    OPS_PORT: "0",
    LOG_LEVEL: "info",
  };
  const child = spawn(process.execPath, ["build/server/index.js"], { env, stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, port, basePath } = JSON.parse(line);
    if (msg !== "ready") continue;
    child.stdout.resume();
    return { url: `http://127.0.0.1:${port}`, basePath, stop: () => child.kill() };
  }
  throw new Error("The server didn't start. Is there a build?");
}

/** The value of a setting, quoted. nginx has no escape for `$`. */
function quote(text) {
  if (text.includes("$")) throw new Error(`nginx can't have this, because of the $: ${text}`);
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

/** The reason why the response can't be a file, or undefined. */
function findReason(path, { status, headers }) {
  if (/%2f|["\\$]/i.test(decodeURIComponent(path))) return "its path can't be a file's";
  if (![200, 301, 308].includes(status)) return `status ${status}`;
  const policy = headers.get("Cache-Control") ?? "";
  return policy.includes("s-maxage") ? undefined : `it isn't cached: ${policy}`;
}

/** The file of a path. */
function toFile(path, type) {
  const name = decodeURIComponent(path).replace(/\/$/, "/index");
  return type.startsWith("text/html") ? `${name}.html` : name;
}

function listLinks(html, url) {
  const hrefs = [...html.matchAll(/<a\s[^>]*?href="([^"]+)"/g)].map(([, href]) => href.replaceAll("&amp;", "&"));
  const links = hrefs.filter((href) => URL.canParse(href, url)).map((href) => new URL(href, url));
  return links.filter(({ origin }) => origin === new URL(url).origin).map(({ pathname }) => pathname);
}

/** Writes the response to a file. Returns the lines for nginx. */
async function save(path, response, body, location = `= ${quote(decodeURIComponent(path))}`) {
  const type = response.headers.get("Content-Type") ?? "application/octet-stream";
  const lines = [...response.headers]
    .filter(([name]) => !NOT_COPIED.test(name))
    .map(([name, value]) => `  add_header ${name} ${quote(value)} always;`);
  const target = response.headers.get("Location");
  if (target) lines.push(`  return ${response.status} ${quote(target)};`);
  else {
    const file = toFile(path, type);
    await mkdir(dirname(join(FILES, file)), { recursive: true });
    await writeFile(join(FILES, file), body);
    lines.push("  types {}", `  default_type ${quote(type)};`, `  try_files ${quote(file)} =404;`);
  }
  return `location ${location} {\n${lines.join("\n")}\n}\n`;
}

async function exportPages(url, basePath) {
  const get = (path) => fetch(url + path, { redirect: "manual", headers: { "Accept-Encoding": "identity" } });
  const locations = [];
  const paths = new Set([basePath, ...process.argv.slice(2)]);
  // The set grows meanwhile.
  for (const path of paths) {
    const response = await get(path);
    const body = Buffer.from(await response.arrayBuffer());
    const reason = findReason(path, response);
    if (reason) console.error(`left out ${path}: ${reason}`);
    if (reason) continue;
    console.log(`wrote    ${path}`);
    locations.push(await save(path, response, body));
    if (!response.headers.get("Content-Type")?.startsWith("text/html")) continue;
    for (const link of listLinks(body.toString(), url + path)) paths.add(link);
    // Pages without a loader have no data.
    const dataPath = path.endsWith("/") ? `${path}_.data` : `${path}.data`;
    const data = await get(dataPath);
    const bytes = Buffer.from(await data.arrayBuffer());
    if (!findReason(dataPath, data)) locations.push(await save(dataPath, data, bytes));
  }
  const missing = await get(basePath + UNKNOWN);
  const page = Buffer.from(await missing.arrayBuffer());
  locations.push("error_page 404 /404.html;\n", await save("/404", missing, page, "= /404.html"));
  return locations;
}

const { url, basePath, stop } = await startServer();
try {
  await rm(FOLDER, { recursive: true, force: true });
  await cp("build/client", FILES + basePath, { recursive: true });
  const locations = await exportPages(url, basePath);
  await writeFile(`${FOLDER}/pages.conf`, locations.join("\n"));
} finally {
  stop();
}
