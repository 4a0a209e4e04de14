import { existsSync, statSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { contentType } from "mime-types";
import type { ServerBuild } from "react-router";
import type { PrerenderedFile } from "../locals.ts";
import { findPrerenderNonce } from "../parts/render/find-render.ts";
import { prioritizeContent } from "../parts/render/prioritize-content.ts";
import { replaceNonce } from "../site/content-security-policy.ts";
import { BUILD_FILE, isPrerendered } from "./prerender.ts";

/**
 * Moves prerendered responses out of the folder of files, since they get the headers of pages. Lists them, with the
 * hashes of their inline scripts and styles.
 */
export async function movePrerendered() {
  for (const path of ["build/prerendered", "build/prerendered.json"]) await rm(path, { recursive: true, force: true });
  if (!isPrerendered()) return;
  if (process.exitCode) throw new Error("prerender: the data that a page streams failed");
  const build = pathToFileURL(resolve("build/server", BUILD_FILE)).href;
  const { prerender, basename = "/", assets }: ServerBuild = await import(build);
  const { module: entry } = assets.entry;
  const listed: PrerenderedFile[] = [];
  for (const response of [...new Set(prerender)].flatMap((path) => findFiles(basename, path))) {
    const [from, to] = [join("build/client", response.file), join("build/prerendered", response.file)];
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
    let inline: PrerenderedFile["inline"] = { scripts: [], styles: [] };
    if (response.contentType.startsWith("text/html")) {
      const prepared = prioritizeContent(await readFile(to, "utf8"), entry, assets.url);
      const page = replaceNonce(prepared, findPrerenderNonce(), entry);
      await writeFile(to, page.html);
      inline = page.inline;
    }
    listed.push({ ...response, inline });
  }
  await writeFile("build/prerendered.json", JSON.stringify(listed));
}

/** The files that React Router has written for a path: a page or the response of a resource route, and the data. */
function findFiles(basename: string, path: string) {
  const url = `${basename}/${path}`.replace(/\/+/g, "/");
  const [page, data] = [url.replace(/(?<=.)\/$/, ""), url.endsWith("/") ? `${url}_.data` : `${url}.data`];
  const found = [
    { url: page, file: join(page, "index.html"), contentType: "text/html; charset=utf-8" },
    { url: data, file: data, contentType: "text/x-script" },
    { url: page, file: page, contentType: contentType(posix.basename(page)) || "application/octet-stream" },
  ];
  const isFile = ({ file }: { file: string }) => {
    const path = join("build/client", file);
    return existsSync(path) && statSync(path).isFile();
  };
  return found
    .filter(isFile)
    .map(({ url, ...response }) => ({ ...response, path: new URL(url, "http://localhost").pathname }));
}
