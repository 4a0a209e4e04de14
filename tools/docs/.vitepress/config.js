// The docs site: the Markdown files of the repository, at their own paths.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { githubMarkdown, toAnchor } from "./github-markdown.js";

const ROOT = join(import.meta.dirname, "../../..");
const read = (file) => readFileSync(join(ROOT, file), "utf8");

const { description, repository } = JSON.parse(read("package.json"));
/** The repository's address, if it is known. */
const SOURCE = process.env.SOURCE ?? repository?.url?.replace(/^git\+|\.git$/g, "");
/** The path of the site, without a slash at its end. */
const { BASE_PATH = "" } = process.env;

const inEngine = (...paths) => paths.map((path) => `packages/server/${path}`);

/** Files, and folders for their files that have no line of their own. */
const SIDEBAR = {
  "Start here": ["README.md", "docs/make-it-yours.md", "CONTRIBUTING.md"],
  "The first weeks": ["docs/growing-up.md", "docs/works-with.md", "docs", "app"],
  Examples: inEngine("examples"),
  "Running it": [
    "deploy",
    ...inEngine("docs/operating.md", "docs/reference.md", "docs/load-balancers.md", "docs/tracing"),
  ],
  "The engine": [
    ...inEngine("README.md", "docs/caching.md", "docs/policy-and-third-parties.md", "docs/uploads-and-streams.md"),
    ...inEngine("docs/speed-and-scaling.md", "docs/comparison.md", "docs", "src", "CHANGELOG.md"),
  ],
  Releases: ["docs/updating.md", "CHANGELOG.md", "SECURITY.md"],
};

const listed = new Set(Object.values(SIDEBAR).flat());

/** The pages of a file or a folder. A product may have removed it. */
function listPages(path) {
  if (!existsSync(join(ROOT, path))) return [];
  if (path.endsWith(".md")) return [path];
  const names = readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" });
  const pages = names.map((name) => `${path}/${name.replaceAll("\\", "/")}`).sort();
  const isPage = (page) => (path === "app" ? page.endsWith("/README.md") : page.endsWith(".md"));
  return pages.filter((page) => isPage(page) && !listed.has(page) && listed.add(page));
}

const titleOf = (page) => /^# (.*)/m.exec(read(page))?.[1] ?? page;

const toItem = (page) => ({ text: titleOf(page), link: `/${page.replace(/(README)?\.md$/, "")}` });

/** Vite finds no Vue beside the Markdown files. When VitePress renders the pages, Node finds that of this folder. */
const vueOfThisFolder = {
  name: "vue-of-this-folder",
  enforce: "pre",
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : null),
};

export default defineConfig({
  title: titleOf("README.md"),
  description,
  base: `${BASE_PATH}/`,
  srcDir: ROOT,
  // A product may have Markdown of its own, such as content/news.md.
  srcExclude: [
    "!(README|CONTRIBUTING|CHANGELOG|SECURITY).md",
    "!(app|deploy|docs|packages)/**/*.md",
    "app/**/!(README).md",
    "**/test/**",
  ],
  outDir: "build",
  cacheDir: "node_modules/.vitepress",
  rewrites: (page) => page.replace(/README\.md$/, "index.md"),
  // The app's `vite.config.ts` is for the app.
  vite: { configFile: false, plugins: [vueOfThisFolder] },
  ignoreDeadLinks: "localhostLinks",
  head: [
    // VitePress copies `public/`.
    ["link", { rel: "icon", href: `${BASE_PATH}/icon.svg` }],
    // Pictures may be side by side, and tables have up to five columns.
    ["style", {}, ".vp-doc img { display: inline } .vp-doc :is(th, td) { padding: 6px 10px }"],
  ],
  markdown: {
    anchor: { slugify: toAnchor },
    attrs: { disable: true },
    config: (md) => md.use(githubMarkdown, { root: ROOT, source: SOURCE }),
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: Object.entries(SIDEBAR)
      .map(([text, paths]) => ({
        text,
        collapsed: text === "Examples",
        items: paths.flatMap(listPages).map(toItem),
      }))
      .filter(({ items }) => items.length > 0),
    editLink: SOURCE && { pattern: `${SOURCE}/edit/main/:path` },
    socialLinks: SOURCE && [{ icon: "github", link: SOURCE }],
  },
});
