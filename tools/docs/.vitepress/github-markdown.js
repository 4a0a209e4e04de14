// Markdown as GitHub shows it: links, anchors, pictures, commands and braces.
import { existsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ENGINE = "packages/server";

/** The anchor of a heading. */
export const toAnchor = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");

/**
 * A plugin of markdown-it. A link to a folder, or to another file than Markdown, leads to `source`, the repository's
 * address. Without that, only the text stays. VitePress checks links to pages.
 */
export function githubMarkdown(md, { root, source }) {
  // Vue would take {{ for the start of an expression.
  for (const name of ["text", "code_inline"]) {
    const render = md.renderer.rules[name];
    md.renderer.rules[name] = (...args) => render(...args).replaceAll("{{", "{&#123;");
  }

  md.core.ruler.push("github_markdown", ({ tokens, env }) => {
    const inline = tokens.flatMap(({ children }) => children ?? []);
    for (const token of [...tokens, ...inline]) {
      // VitePress gives only fenced code a background and a scroll bar. Indented code is commands.
      if (token.type === "code_block") Object.assign(token, { type: "fence", info: "sh" });
      // Vue resolves only sources that begin with a dot.
      if (token.type.startsWith("html_"))
        token.content = token.content.replaceAll(/(?<= src(set)?=")(?!\/|\w+:)/g, "./");
    }
    for (const [index, token] of inline.entries()) {
      const href = token.type === "link_open" ? token.attrGet("href") : "#";
      if (/^(\w+:|#)/.test(href)) continue;
      const [path, anchor = ""] = href.split(/(?=#)/);
      const file = relative(root, join(dirname(env.path), decodeURI(path)));
      // A product may have a packed engine.
      const isPacked = file.startsWith(`${ENGINE}/`) && !existsSync(join(root, ENGINE));
      if (path.endsWith(".md") && !isPacked) {
        token.attrSet("href", path.replace(/README\.md$/, "index.md") + anchor);
        continue;
      }
      const stats = statSync(join(root, file), { throwIfNoEntry: false });
      if (!stats && !isPacked) throw new Error(`${env.realPath ?? env.path} links to ${href}, which doesn't exist`);
      if (stats && source) {
        token.attrSet("href", `${source}/${stats.isDirectory() ? "tree" : "blob"}/main/${file}`);
      } else {
        const end = inline.find(({ type }, at) => at > index && type === "link_close");
        for (const tag of [token, end]) tag.type = "text";
      }
    }
  });
}
