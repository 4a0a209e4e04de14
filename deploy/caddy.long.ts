// The app behind Caddy with deploy/Caddyfile, over HTTPS with a local certificate authority (Debian's package caddy).
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findFreePort, startServer } from "react-router-express-server/testing";
import { expect, inject, onTestFinished, test, vi } from "vitest";

async function startCaddy(upstream: string, config = "deploy/Caddyfile", certificate?: string) {
  if (spawnSync("caddy", ["version"]).error) throw new Error("This test needs Caddy: on Debian, apt-get install caddy");
  const folder = mkdtempSync(join(tmpdir(), "caddy-"));
  const [httpPort, httpsPort] = [await findFreePort(), await findFreePort()];
  const caddy = spawn("caddy", ["run", "--config", config, "--adapter", "caddyfile"], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      SITE: "localhost",
      UPSTREAM: new URL(upstream).host,
      HTTP_PORT: String(httpPort),
      HTTPS_PORT: String(httpsPort),
    },
    stdio: "ignore",
  });
  onTestFinished(async () => {
    caddy.kill();
    await once(caddy, "exit");
    rmSync(folder, { recursive: true });
  });
  const readAuthority = () =>
    readFileSync(certificate ?? `${folder}/.local/share/caddy/pki/authorities/local/root.crt`);
  const host = `localhost:${httpsPort}`;
  const send = async (path: string, options: RequestOptions = {}, body = "") => {
    const sent = request(`https://${host}${path}`, { ca: readAuthority(), ...options }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { response, body: await text(response) };
  };
  const isReady = () =>
    send("/").then(
      () => true,
      () => false,
    );
  await vi.waitUntil(isReady, { timeout: 60_000 });
  return { host, httpUrl: `http://localhost:${httpPort}`, send };
}

test("pages and forms work behind deploy/Caddyfile", async () => {
  const server = await startServer({}, inject("examplesFolder"));
  const { host, httpUrl, send } = await startCaddy(server.url);

  const page = await send("/", { headers: { "Accept-Encoding": "br" } });
  expect(page.response.headers).toMatchObject({ "content-encoding": "br", "alt-svc": expect.stringContaining("h3=") });
  const { etag } = page.response.headers;
  expect((await send("/", { headers: { "Accept-Encoding": "br", "If-None-Match": etag } })).response.statusCode).toBe(
    304,
  );
  expect((await send("/nowhere")).response.statusCode).toBe(404);
  const redirect = await fetch(httpUrl, { redirect: "manual" });
  expect([redirect.status, redirect.headers.get("Location")]).toEqual([308, expect.stringMatching(/^https:/)]);

  // As old browsers send it.
  const headers = { "Content-Type": "application/x-www-form-urlencoded", Origin: `https://${host}` };
  const form = await send("/example-pages/form", { method: "POST", headers }, "name=Ada");
  expect(form.response.statusCode).toBe(200);
  const foreign = { ...headers, Origin: "https://example.com" };
  expect((await send("/example-pages/form", { method: "POST", headers: foreign })).response.statusCode).toBe(403);

  await send("/robots.txt", { localAddress: "127.0.0.2", family: 4 });
  expect(await server.stop()).toBe(0);
  const logged = server.lines.find((line) => line["url.path"] === "/robots.txt");
  expect(logged).toMatchObject({ "client.address": "127.0.0.2" });
});

test("while the app restarts, requests wait, and none fails", async () => {
  const server = await startServer({}, inject("examplesFolder"));
  const { send } = await startCaddy(server.url);
  const statuses: (number | undefined)[] = [];
  let isOver = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!isOver) statuses.push((await send("/")).response.statusCode);
  });
  const waitForResponses = (count: number) => expect.poll(() => statuses.length).toBeGreaterThan(count);
  await waitForResponses(50);
  expect(await server.stop()).toBe(0);
  const next = await startServer({ PORT: new URL(server.url).port }, inject("examplesFolder"));
  await waitForResponses(statuses.length + 50);
  isOver = true;
  await Promise.all(clients);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await next.stop()).toBe(0);
});

test("with a certificate of yours, a restart of Caddy serves the one that has replaced it", async () => {
  const server = await startServer({}, inject("examplesFolder"));
  const folder = mkdtempSync(join(tmpdir(), "certificates-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [config, certificate, key] = [join(folder, "Caddyfile"), join(folder, "cert.pem"), join(folder, "key.pem")];
  const site = "{$SITE} {";
  const caddyfile = readFileSync("deploy/Caddyfile", "utf8");
  writeFileSync(
    config,
    caddyfile.replace(site, () => `${site}\n\ttls ${certificate} ${key}`),
  );
  const served: string[] = [];
  for (const serial of ["1", "2"]) {
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const files = ["-out", certificate, "-keyout", key];
    const options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-set_serial", serial];
    execFileSync("openssl", ["req", ...options, ...names, ...files], { stdio: "ignore" });
    const { send } = await startCaddy(server.url, config, certificate);
    const checkServerIdentity: RequestOptions["checkServerIdentity"] = (_host, { serialNumber }) => {
      served.push(serialNumber);
      return undefined;
    };
    const { response } = await send("/", { agent: false, checkServerIdentity });
    expect(response.statusCode).toBe(200);
  }
  expect(served).toEqual(["01", "02"]);
  await server.stop();
});
