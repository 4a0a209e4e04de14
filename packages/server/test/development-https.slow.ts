// HTTPS in development, such as for APIs that browsers have in secure contexts only.

import { execFile } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { getCertificate } from "@vitejs/plugin-basic-ssl";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { copySite } from "./support/copy-site.ts";
import { expect, test } from "./support/fixtures.ts";
import { startDevelopment } from "./support/start-development.ts";

const CONFIG = "export default defineConfig({\n  plugins: [";
const CERTIFICATE = "certificate.pem";
const HTTPS = `server: { https: { cert: "${CERTIFICATE}", key: "${CERTIFICATE}" } },`;

describe.each([
  { how: "server.https", config: CONFIG.replace("plugins", `${HTTPS}\n  plugins`) },
  {
    how: "@vitejs/plugin-basic-ssl",
    config: `import basicSsl from "@vitejs/plugin-basic-ssl";\n${CONFIG}basicSsl(), `,
  },
])("with $how", ({ config }) => {
  const folder = copySite();
  const cleanups: (() => Promise<void>)[] = [];
  let development: Awaited<ReturnType<typeof startDevelopment>>;

  beforeAll(async () => {
    writeFileSync(`${folder}/${CERTIFICATE}`, await getCertificate(folder));
    const file = `${folder}/vite.config.ts`;
    const text = readFileSync(file, "utf8");
    expect(text).toContain(CONFIG);
    writeFileSync(file, text.replace(CONFIG, config));
    development = await startDevelopment(folder, (cleanup) => cleanups.push(cleanup));
  });

  afterAll(() => Promise.all(cleanups.map((cleanup) => cleanup())));

  /** The status of a page, by curl. */
  async function curl(...args: string[]) {
    const output = ["-sk", "-o", "/dev/null", "-w", "%{http_code}"];
    return (await promisify(execFile)("curl", [...output, ...args, `${development.url}/`])).stdout;
  }

  test("clients of HTTP/2 and of HTTP/1.1 get the page", async () => {
    expect(development.url).toMatch(/^https:/);
    expect([await curl("--http2"), await curl("--http1.1"), await curl("--no-alpn")]).toEqual(["200", "200", "200"]);
  });

  test("a browser shows the page, and then an edit, without loading it anew", async ({ browser }) => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`${development.url}/example-pages/weather`);
    await page.getByRole("heading", { name: "Weather" }).waitFor();
    await page.waitForFunction(() => "__reactRouterDataRouter" in window);
    await page.waitForLoadState("networkidle");
    await page.evaluate(() => Object.assign(window, { isMarked: true }));
    const file = `${folder}/app/example-pages/weather.tsx`;
    writeFileSync(`${file}.edited`, readFileSync(file, "utf8").replace("<h1>Weather</h1>", "<h1>Climate</h1>"));
    renameSync(`${file}.edited`, file);
    await page.getByRole("heading", { name: "Climate" }).waitFor();
    expect(await page.evaluate(() => "isMarked" in window)).toBe(true);
  });

  test.for([
    ["HTTP/2 alone", ["h2"], "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["HTTP/2 without ALPN", undefined, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["OPTIONS *", undefined, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["an absolute target", undefined, "GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["a malformed host", undefined, "GET / HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n"],
    ["CONNECT", undefined, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["no HTTP", undefined, "hello\r\n\r\n"],
  ] as const)("%s doesn't end the server", async ([, protocols, bytes]) => {
    const { hostname, port } = new URL(development.url);
    const socket = connect({
      ...{ host: hostname, port: Number(port), rejectUnauthorized: false },
      ...(protocols && { ALPNProtocols: [...protocols] }),
    });
    socket.on("error", () => {});
    socket.once("secureConnect", () => socket.end(bytes)).resume();
    await new Promise((resolve) => socket.once("close", resolve)); // `once` would reject for an error.
    expect(await curl()).toBe("200");
  });
});
