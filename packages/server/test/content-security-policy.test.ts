import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { CspEvaluator } from "csp_evaluator/dist/evaluator.js";
import { Severity } from "csp_evaluator/dist/finding.js";
import { CspParser } from "csp_evaluator/dist/parser.js";
import type { Page } from "playwright-core";
import { keepViolations, loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { prioritizeContent } from "../src/parts/render/prioritize-content.ts";
import { contentSecurityPolicy, replaceNonce } from "../src/site/content-security-policy.ts";
import { createSecurityHeaders } from "../src/site/security-headers.ts";
import { exchange } from "./support/exchange.ts";
import { FILM_BYTES } from "./support/film.ts";
import { expect, NOT_FOUND_MESSAGES, open, test } from "./support/fixtures.ts";
import { SITE } from "./support/site.ts";

const ASSET = `/assets/${readdirSync(`${SITE}/build/client/assets`).find((name) => name.endsWith(".js"))}`;
/** A page that is rendered for each request, with status 404. */
const RENDERED = "/example-pages/notes/3";

test.override("ignoredMessages", () => NOT_FOUND_MESSAGES);
test.for<[number, string, ...string[]]>([
  [200, "GET /"],
  [200, "HEAD /"],
  [304, "GET /", "If-None-Match: *"],
  [405, "POST /"],
  [400, "GET /", "Host: second"],
  [404, "GET /unknown"],
  [404, `GET ${RENDERED}`],
  [404, `HEAD ${RENDERED}`],
  [405, `DELETE ${RENDERED}`],
  [200, "GET /favicon.ico"],
  [206, "GET /film.mp4", "Range: bytes=0-9"],
  [416, "GET /film.mp4", `Range: bytes=${FILM_BYTES}-`],
  [200, `GET ${ASSET}`],
  [200, `GET ${ASSET}`, "Accept-Encoding: br"],
  [304, `GET ${ASSET}`, "If-None-Match: *"],
  [404, "GET /assets/unknown.js"],
])("the %d response to %s has the security headers", async ([status, request, ...lines], { server }) => {
  const bytes = [`${request} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines, "", ""].join("\r\n");
  const { responses } = await exchange(server.url, bytes);
  const type = responses[0]?.headers["content-type"];
  const isPage = type?.startsWith("text/html") || (status === 304 && request === "GET /");
  const ofDocuments = {
    "x-frame-options": "DENY",
    // Pages may add to these two.
    "cross-origin-opener-policy": isPage ? expect.any(String) : "same-origin",
    "permissions-policy": expect.stringMatching(isPage ? "camera=" : /^([a-z-]+=\(\), )+[a-z-]+=\(\)$/),
  };
  expect(responses).toMatchObject([
    {
      status,
      headers: {
        "strict-transport-security": "max-age=63072000",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        ...(request !== `GET ${ASSET}` && ofDocuments),
      },
    },
  ]);
  const { server: software, "x-powered-by": framework, ...headers } = responses[0]?.headers ?? {};
  expect([software, framework]).toEqual([undefined, undefined]);
  expect("content-security-policy" in headers).toBe(isPage);
});

test.for<[string, Record<string, string>]>([
  [
    "/example-pages/framed",
    {
      "content-security-policy": "default-src 'none'; frame-ancestors 'self'",
      "cross-origin-opener-policy": "unsafe-none",
      "permissions-policy": "camera=(self)",
      "x-frame-options": "SAMEORIGIN",
    },
  ],
  ["/example-pages/attachment", { "content-security-policy": "sandbox" }],
])("%s sends the headers that its route sets, and otherwise the defaults", async ([path, own], { server }) => {
  // If a header is sent twice, fetch() joins the values.
  const protection = async (path: string) => {
    const { headers } = await fetch(server.url + path);
    return Object.fromEntries([...headers].filter(([name]) => /^(.*-policy|x-frame.*|strict.*)$/.test(name)));
  };
  expect(await protection(path)).toEqual({ ...(await protection(RENDERED)), ...own });
});

function sourcesOf(policy: string): Record<string, string[]> {
  const directives = policy.split("; ").map((directive) => directive.split(" "));
  return Object.fromEntries(directives.map(([name, ...sources]) => [name, sources]));
}

/** The directives of a page's policy, each with its sources, and the HTML that it came with. */
async function readPolicy(url: string) {
  const response = await fetch(url);
  const policy = response.headers.get("Content-Security-Policy") ?? "";
  return { policy, sources: sourcesOf(policy), html: await response.text() };
}

/** The inline elements that a browser finds in a document, with their nonces. */
async function inlineElementsOf(page: Page, html: string) {
  const elements = await page.evaluate((html) => {
    const document = new DOMParser().parseFromString(html, "text/html");
    return ["script", "style"].map((name) =>
      [...document.querySelectorAll<HTMLElement>(`${name}:not([src]):not(:empty)`)].map((element) => ({
        text: element.textContent,
        nonce: element.getAttribute("nonce"),
      })),
    );
  }, html);
  const [scripts = [], styles = []] = elements;
  return { scripts, styles };
}

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test.for(["/", "/unknown"])("%s: the policy has the hashes of the inline elements", async (path, { page, server }) => {
  const { sources, html } = await readPolicy(server.url + path);
  const { scripts, styles } = await inlineElementsOf(page, html);
  expect(scripts.length).toBeGreaterThan(0);
  expect(styles.length).toBeGreaterThan(0);
  expect(sources["script-src"]).toEqual(expect.arrayContaining(scripts.map(({ text }) => hash(text))));
  expect(sources["style-src"]).toEqual(expect.arrayContaining(styles.map(({ text }) => hash(text))));
});

test("a rendered page: its inline elements have the nonce of its policy, which is new each time", async ({
  page,
  server,
}) => {
  const url = server.url + RENDERED;
  const [first, second] = [await readPolicy(url), await readPolicy(url)];
  const { scripts, styles } = await inlineElementsOf(page, first.html);
  const nonces = new Set([...scripts, ...styles].map(({ nonce }) => `'nonce-${nonce}'`));
  expect([...nonces]).toHaveLength(1);
  for (const directive of ["script-src", "style-src"]) {
    expect(first.sources[directive]?.filter((source) => /^'(sha|nonce)/.test(source))).toEqual([...nonces]);
  }
  expect(second.policy).not.toBe(first.policy);
  expect(second.policy.replaceAll(/nonce-[^']+/g, "")).toBe(first.policy.replaceAll(/nonce-[^']+/g, ""));
});

const OPTIONS = { isProduction: true, reportsPath: "/browser-reports" };
const INLINE = { scripts: ["'nonce-AAAAAAAAAAAAAAAAAAAAAA=='"], styles: ["'sha256-abc='"] };

test("a policy has the additions of its page, and no others", () => {
  const defaults = {
    "default-src": ["'none'"],
    "script-src": ["'self'", "'nonce-AAAAAAAAAAAAAAAAAAAAAA=='"],
    "style-src": ["'self'", "'sha256-abc='"],
    "connect-src": ["'self'"],
    "font-src": ["'self'"],
    "img-src": ["'self'"],
    "manifest-src": ["'self'"],
    "media-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
    "report-to": ["default"],
    "report-uri": ["/browser-reports"],
  };
  expect(sourcesOf(contentSecurityPolicy(INLINE, "", OPTIONS))).toEqual(defaults);
  const added =
    "img-src data: https://a.example;; frame-ancestors 'self'; style-src-attr 'unsafe-inline'; img-src blob:";
  expect(sourcesOf(contentSecurityPolicy(INLINE, added, OPTIONS))).toEqual({
    ...defaults,
    "img-src": ["'self'", "data:", "https://a.example", "blob:"],
    "frame-ancestors": ["'self'"],
    "style-src-attr": ["'unsafe-inline'"],
  });
});

const { app } = await loadApp({ folder: SITE, env: { PICTURES_URL: "https://key@pictures.example.org/v2?a=1;b" } });

test.for<[string, number, ...string[]]>([
  ["/", 200],
  ["/nowhere", 404],
  ["/%0a", 404],
  ["/example-pages/notes/1", 200],
  [RENDERED, 404],
  ["/example-pages/broken/loader", 500],
  ["/example-pages/third-parties", 200, "https://images.example.org"],
])("the policy of %s (%i) has the origin of a setting", async ([path, status, ...own]) => {
  const response = await request(app).get(path);
  expect(response.status).toBe(status);
  const sources = sourcesOf(response.headers["content-security-policy"] as string);
  expect(sources["img-src"]).toEqual(["'self'", "https://pictures.example.org", ...own]);
});

test.each([
  "script-source https://a.example",
  "img-src self",
  "img-src 'slef'",
  "img-src https://a.example, https://b.example",
  "report-uri /reports",
])("a policy can't have %j added", (added) => {
  expect(() => contentSecurityPolicy(INLINE, added, OPTIONS)).toThrow();
});

test("a page may allow permissions and pop-ups, and nothing else changes", () => {
  const { defaults, ofPage } = createSecurityHeaders("max-age=1", { isProduction: true });
  const added = {
    "Permissions-Policy": 'camera=(self), payment=(self "https://a.example"), usb=*, camera=self',
    "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
  };
  expect(ofPage(added, INLINE)).toEqual({
    ...ofPage({}, INLINE),
    "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
    "Permissions-Policy": defaults["Permissions-Policy"]
      ?.replace("camera=()", "camera=self")
      .replace("payment=()", 'payment=(self "https://a.example")')
      .replace("usb=()", "usb=*"),
  });
});

test.each([
  ["Permissions-Policy", "passkeys=(self)"],
  ["Permissions-Policy", "camera"],
  ["Permissions-Policy", "camera=(https://a.example)"],
  ["Permissions-Policy", "camera=(self); payment=(self)"],
  ["Cross-Origin-Opener-Policy", "allow-popups"],
  ["X-Frame-Options", "SAMEORIGIN"],
])("%s can't have %j added", (name, value) => {
  expect(() => createSecurityHeaders("max-age=1", { isProduction: true }).ofPage({ [name]: value }, INLINE)).toThrow(
    name,
  );
});

test("the policy of a cached page allows inline elements with the nonce, and no others", () => {
  const printed = "<script>b</script><style nonce=guessed>c</style>";
  const page = `<script nonce="n">a</script>${printed}<style nonce="n">d</style>`;
  const { html, inline } = replaceNonce(page, "n", "/assets/entry.js");
  expect(html).toBe(`<script>a</script>${printed}<style>d</style>`);
  const sources = sourcesOf(contentSecurityPolicy(inline, "", OPTIONS));
  expect(sources["script-src"]).toEqual(["'self'", hash("a")]);
  expect(sources["style-src"]).toEqual(["'self'", hash("d")]);
});

test.for([
  ["<script ", (html: string) => replaceNonce(html, "n", "/assets/entry.js")],
  ["<style ", (html: string) => replaceNonce(html, "n", "/assets/entry.js")],
  ['<link rel="modulepreload"', (html: string) => prioritizeContent(html, "/assets/entry.js", "/assets/manifest.js")],
] as const)("a document that repeats %s takes time in proportion to its length", ([tag, run]) => {
  const measure = (bytes: number) => {
    const html = tag.repeat(bytes / tag.length);
    const times = Array.from({ length: 5 }, () => {
      const startedAt = performance.now();
      run(html);
      return performance.now() - startedAt;
    });
    return Math.min(...times);
  };
  expect(measure(256 * 1024) / measure(16 * 1024)).toBeLessThan(64); // 16, or 256 if it is quadratic.
});

test("csp_evaluator reports only known findings", () => {
  const findings = new CspEvaluator(new CspParser(contentSecurityPolicy(INLINE, "", OPTIONS)).csp).evaluate();
  // 'self' stays: of a module that a hash allows, Firefox and the specification allow no imports,
  // not even with 'strict-dynamic' (github.com/w3c/webappsec-csp/issues/243).
  expect(findings.map(({ directive, value, severity }) => [directive, value, Severity[severity]])).toEqual([
    ["script-src", "'self'", "MEDIUM_MAYBE"],
  ]);
});

// A violation also fails the test by its console message.
test.for(["/", "/unknown", RENDERED])("%s: the browser reports nothing", async (path, { page, server }) => {
  await keepViolations(page);
  await open(page, server.url + path);
  expect(await page.evaluate(() => (window as never as { __ROUTES__: unknown[] }).__ROUTES__.length)).toBeGreaterThan(
    0,
  );
  expect(await page.evaluate(() => window.violations)).toEqual([]);
});

test("the browser reports nothing on the way home and back", async ({ page, server }) => {
  await keepViolations(page);
  await open(page, `${server.url}/unknown`);
  const heading = () => page.locator("h1").textContent();
  const unknown = await heading();
  await page.locator("main a").click();
  await expect.poll(heading).not.toBe(unknown);
  await page.goBack();
  await expect.poll(heading).toBe(unknown);
  expect(await page.evaluate(() => window.violations)).toEqual([]);
});

/** The injected element, the browser's report, and the source that would allow the element. */
const INJECTED: [string, string, string, (page: Page) => Promise<unknown>][] = [
  [
    "an inline script",
    "script-src-elem inline",
    "script-src-elem 'unsafe-inline'",
    (page) => append(page, "script", { textContent: "document.title = 'x'" }),
  ],
  [
    "a foreign script",
    "script-src-elem data",
    "script-src data:",
    (page) => append(page, "script", { src: "data:text/javascript,1" }),
  ],
  [
    "an inline style",
    "style-src-elem inline",
    "style-src-elem 'unsafe-inline'",
    (page) => append(page, "style", { textContent: "body { color: red }" }),
  ],
  [
    "a style attribute",
    "style-src-attr inline",
    "style-src-attr 'unsafe-inline'",
    (page) => append(page, "i", { outerHTML: "<i style='color:red'></i>" }),
  ],
  [
    "a handler",
    "script-src-attr inline",
    "script-src-attr 'unsafe-inline'",
    (page) => append(page, "i", { outerHTML: "<img src='/nowhere' onerror='alert(1)'>" }),
  ],
  ["eval", "script-src eval", "script-src 'unsafe-eval'", (page) => page.evaluate("setTimeout('1')")],
  ["a foreign image", "img-src data", "img-src data:", (page) => append(page, "img", { src: "data:image/gif,1" })],
  ["a frame", "frame-src", "frame-src data:", (page) => append(page, "iframe", { src: "data:text/html,1" })],
  ["a base", "base-uri", "base-uri *", (page) => append(page, "base", { href: "http://localhost:1/" })],
];

/** Adds an element to the page as an injected script would, and gives it the properties in the page. */
function append(page: Page, name: string, properties: Record<string, string>) {
  return page.evaluate(
    ([name, properties]) => {
      const element = document.body.appendChild(document.createElement(name));
      Object.assign(element, properties);
    },
    [name, properties] as const,
  );
}

test("the policy blocks each kind of injected element that the page doesn't allow", async ({
  page,
  server,
  consoleMessages,
}) => {
  const { sources } = await readPolicy(server.url);
  const isAllowed = (directive = "", source = "") => sources[directive]?.includes(source);
  await keepViolations(page);
  await open(page, server.url);
  for (const [name, violation, allowance, inject] of INJECTED) {
    if (isAllowed(...allowance.split(" "))) continue;
    const injectAndRead = async () => {
      await inject(page);
      return page.evaluate(() => window.violations.splice(0).join("\n"));
    };
    await expect.poll(injectAndRead, { message: name }).toContain(violation);
    await expect.poll(() => consoleMessages.splice(0).join("\n")).toContain("Content Security Policy");
  }
});

test("a cached page that prints hostile HTML runs none of its scripts", async ({ page, server, consoleMessages }) => {
  await keepViolations(page);
  await page.goto(`${server.url}/example-pages/hostile`);
  // The text and the attribute are escaped; the two elements are blocked.
  await expect.poll(() => page.evaluate(() => window.violations)).toHaveLength(2);
  expect(await page.title()).toBe("Untouched");
  expect(consoleMessages.splice(0).join("\n")).toContain("Content Security Policy");
});
