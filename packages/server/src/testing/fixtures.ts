// biome-ignore-all lint/correctness/noEmptyPattern: Vitest reads a fixture's dependencies from this pattern.
import type { Page } from "playwright-core";
import { test as base, expect } from "vitest";
import { launchChromium } from "./chromium.ts";
import { startServer } from "./start-server.ts";

declare global {
  interface Window {
    /** React Router's own, in the browser. */
    __reactRouterDataRouter: { navigate: (path: string) => Promise<void> };
  }
}

/** The console messages of Chromium and of the not-found page for an unknown path. */
export const NOT_FOUND_MESSAGES = /^error: (Failed to load resource: .* 404 \(Not Found\)|Page not found: .*)$/;

/**
 * Vitest's `test` with a server of a site's build, Chromium, and a page. A test fails if the page has a console message
 * or an error that the test doesn't remove from `consoleMessages`.
 */
export const createTest = (folder = process.cwd()) =>
  base
    .extend("server", { scope: "file" }, async ({}, { onCleanup }) => {
      const server = await startServer({}, folder);
      onCleanup(async () => void (await server.stop()));
      return server;
    })
    .extend("browser", { scope: "file" }, async ({}, { onCleanup }) => {
      const browser = await launchChromium();
      onCleanup(() => browser.close());
      return browser;
    })
    /** Makes a page, in a context that all pages of a file share. */
    .extend("newPage", { scope: "file" }, async ({ browser }) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      context.setDefaultTimeout(60_000);
      return () => context.newPage();
    })
    /** Console messages that every test of a file may have. */
    .extend("ignoredMessages", (): RegExp => /^$/)
    /** The page's console messages and uncaught errors. A test removes those that it expects. */
    .extend("consoleMessages", (): string[] => [])
    /** Whether pages measure web vitals. Their script loads after a second, when a test may have stopped its server. */
    .extend("hasWebVitals", (): boolean => false)
    .extend("page", async ({ newPage, hasWebVitals, consoleMessages, ignoredMessages }, { onCleanup }) => {
      const page = await newPage();
      if (!hasWebVitals)
        await page.addInitScript(() => Object.defineProperty(navigator, "globalPrivacyControl", { value: true }));
      const write = (message: string) => {
        if (!ignoredMessages.test(message)) consoleMessages.push(message);
      };
      page.on("console", (message) => write(`${message.type()}: ${message.text()}`));
      page.on("pageerror", ({ message }) => write(`page error: ${message}`));
      onCleanup(async () => {
        await page.close();
        expect(consoleMessages).toEqual([]);
      });
      return page;
    });

/** Opens a URL, and resolves with its response once React has hydrated every element of the page, and run its effects. */
export async function open(page: Page, url: string) {
  const response = await page.goto(url);
  await page.waitForFunction(() => {
    const isHydrated = (element: Element) => Object.keys(element).some((key) => key.startsWith("__reactProps"));
    const elements = [...document.querySelectorAll("#root *")];
    return elements.length > 0 && elements.every(isHydrated);
  });
  // React runs effects in a later task. A page that animates may never be idle.
  await page.evaluate(() => new Promise<unknown>((resolve) => requestIdleCallback(resolve, { timeout: 1000 })));
  return response;
}
