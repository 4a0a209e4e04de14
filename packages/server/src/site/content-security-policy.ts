import { createHash } from "node:crypto";
import { SOURCE } from "../http/policy-source.ts";
import { ChangedHtmlError } from "./changed-html-error.ts";

/** The source expressions of each directive (CSP Level 3). */
type Policy = Record<string, string[]>;

// Without Trusted Types: after a failed hydration, React creates scripts with innerHTML (facebook/react#16157).
const DEFAULT_POLICY = {
  "default-src": ["'none'"],
  "script-src": ["'self'"],
  "style-src": ["'self'"],
  "connect-src": ["'self'"],
  "font-src": ["'self'"],
  "img-src": ["'self'"],
  "manifest-src": ["'self'"],
  "media-src": ["'self'"],
  "base-uri": ["'none'"],
  "form-action": ["'self'"],
  "frame-ancestors": ["'none'"],
} satisfies Policy;

/** In development, Vite inserts and changes styles (app/root.tsx). */
const DEVELOPMENT_POLICY: Policy = { "style-src": ["'nonce-vite'"] };

const FURTHER_DIRECTIVES = [
  "child-src",
  "frame-src",
  "object-src",
  "worker-src",
  "script-src-attr",
  "script-src-elem",
  "style-src-attr",
  "style-src-elem",
] as const;
/** The directives that list sources. */
export const DIRECTIVES = new Set<string>([...Object.keys(DEFAULT_POLICY), ...FURTHER_DIRECTIVES]);
export type Directive = keyof typeof DEFAULT_POLICY | (typeof FURTHER_DIRECTIVES)[number];

/** The directives of a policy that list sources. Throws an error that names the fault. */
function parsePolicy(text: string): Policy {
  const policy: Policy = {};
  for (const directive of text.split(";").filter((part) => part.trim())) {
    const [name = "", ...sources] = directive.trim().split(/\s+/);
    if (!DIRECTIVES.has(name)) throw new Error(`Content-Security-Policy: "${name}" is not a directive with sources`);
    for (const source of sources) if (!SOURCE.test(source)) throw new Error(`${name}: ${source} is not a valid source`);
    policy[name] = [...(policy[name] ?? []), ...sources];
  }
  return policy;
}

/** The additions of settings to the policy of every page: the origins of their URLs. */
export function policyOfSettings(settings: object, policySources: Record<string, Directive[] | undefined> = {}) {
  const urls = Object.entries(settings).filter(([name, url]) => name in policySources && url !== undefined);
  return urls
    .flatMap(([name, url]) => policySources[name]?.map((directive) => `${directive} ${new URL(url).origin}`))
    .join("; ");
}

/** Adds sources to those of a policy, and removes `'none'`, which must be alone. */
function mergePolicies(policy: Policy, added: Policy): Policy {
  const merged = { ...policy };
  for (const [name, sources] of Object.entries(added)) {
    merged[name] = [...(policy[name] ?? []).filter((source) => source !== "'none'"), ...sources];
  }
  return merged;
}

/** The source expressions that allow inline scripts and styles. */
export type InlineSources = { scripts: string[]; styles: string[] };

/**
 * The Content-Security-Policy of a page. It allows inline scripts and styles by the given source expressions only, and
 * adds the page's own directives. In development, violations are not reported to the server. Throws an error that names
 * a fault in the page's directives.
 */
export function contentSecurityPolicy(
  { scripts, styles }: InlineSources,
  added: string,
  { isProduction, reportsPath }: { isProduction: boolean; reportsPath: string },
) {
  const inline = { "script-src": scripts, "style-src": styles };
  const policies = [inline, isProduction ? {} : DEVELOPMENT_POLICY, parsePolicy(added)];
  return (
    Object.entries(policies.reduce<Policy>(mergePolicies, DEFAULT_POLICY))
      .map(([name, sources]) => [name, ...sources].join(" "))
      // Browsers that follow `report-to` ignore `report-uri`.
      .concat(isProduction ? ["report-to default", `report-uri ${reportsPath}`] : [])
      .join("; ")
  );
}

/**
 * Prepares a document for the cache: returns its HTML without nonces, and the hashes of its inline scripts and styles.
 * Only elements with the nonce get a hash. So an element that a user has injected gets none. `entry` is the URL of the
 * entry, which each document with <Scripts> has. Throws if React's HTML has changed.
 */
export function replaceNonce(html: string, nonce: string, entry: string) {
  const mark = ` nonce="${nonce}"`;
  const inline: InlineSources = { scripts: [], styles: [] };
  // Not a regular expression, which takes three times as long. No attribute has "<" or ">", since React escapes them.
  for (let at = html.indexOf(mark); at !== -1; at = html.indexOf(mark, at + 1)) {
    const [, element] = /^<(script|style)\b/.exec(html.slice(html.lastIndexOf("<", at), at)) ?? [];
    const start = html.indexOf(">", at) + 1;
    const content = html.slice(start, html.indexOf(`</${element}>`, start));
    if (!element || !content) continue;
    const hash = createHash("sha256").update(content).digest("base64");
    inline[element === "script" ? "scripts" : "styles"].push(`'sha256-${hash}'`);
  }
  if (inline.scripts.length === 0 && html.includes(entry)) {
    throw new ChangedHtmlError(
      "the server finds no nonce in the scripts that this react-dom renders: pass it to <ServerRouter> in entry.server.tsx, or install an earlier react-dom, or a later react-router-express-server",
    );
  }
  return { html: html.replaceAll(mark, ""), inline };
}
