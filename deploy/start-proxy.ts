// nginx, HAProxy and Varnish with the files of deploy/ (Debian's packages nginx-light, haproxy and varnish).
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { findFreePort } from "react-router-express-server/testing";

// Debian's proxies aren't in a user's PATH.
const ENV = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** The ports of a server. */
export type Upstream = { port: string; opsPort: string };
type Ports = { plain: number; tls: number };
type Options = { folder: string; upstreams: Upstream[]; ports: Ports };

/** Replaces each of the texts in a file of deploy/. Throws if it lacks one. */
function adapt(name: string, changes: [string, string][]) {
  return changes.reduce(
    (content, [from, to]) => {
      if (!content.includes(from)) throw new Error(`${name} has no ${from}`);
      return content.replaceAll(from, to);
    },
    readFileSync(new URL(name, import.meta.url), "utf8"),
  );
}

const ADDRESSES = ["10.0.0.11", "10.0.0.12", "10.0.0.13"];

function prepareNginx({ folder, upstreams, ports }: Options) {
  const config = adapt("nginx.conf", [
    ...ADDRESSES.map((host, i): [string, string] => [`${host}:3000`, `127.0.0.1:${upstreams[i]?.port}`]),
    ["listen 80", `listen 127.0.0.1:${ports.plain}`],
    ["listen 443", `listen 127.0.0.1:${ports.tls}`],
    ["/etc/ssl/www.example.org.pem", `${folder}/cert.pem`],
    ["/etc/ssl/www.example.org.key", `${folder}/key.pem`],
  ]);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  writeFileSync(
    `${folder}/nginx.conf`,
    `daemon off;
    ${process.getuid?.() === 0 ? "user root root;" : ""}
    pid ${folder}/pid;
    worker_processes 2;
    events { worker_connections 1024; }
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n")}
      ${config}
    }`,
  );
  return ["nginx", "-p", folder, "-e", `${folder}/error.log`, "-c", `${folder}/nginx.conf`];
}

function prepareHaproxy({ folder, upstreams, ports }: Options) {
  const config = adapt("haproxy.cfg", [
    ...ADDRESSES.map((host, i): [string, string] => [
      `${host}:3000 port 3001`,
      `127.0.0.1:${upstreams[i]?.port} port ${upstreams[i]?.opsPort}`,
    ]),
    ...ADDRESSES.map((host, i): [string, string] => [`${host}:3000`, `127.0.0.1:${upstreams[i]?.port}`]),
    ["\tuser haproxy\n\tgroup haproxy\n\tchroot /var/lib/haproxy\n", ""], // The test may not be root.
    ["bind :80", `bind 127.0.0.1:${ports.plain}`],
    ["bind :443", `bind 127.0.0.1:${ports.tls}`],
    ["/etc/haproxy/www.example.org.pem", `${folder}/both.pem`],
  ]);
  writeFileSync(`${folder}/haproxy.cfg`, config);
  return ["haproxy", "-db", "-f", `${folder}/haproxy.cfg`];
}

function prepareVarnish({ folder, upstreams, ports }: Options) {
  const config = adapt("varnish.vcl", [
    ...ADDRESSES.map((host, i): [string, string] => [
      `"${host}"; .port = "3000"`,
      `"127.0.0.1"; .port = "${upstreams[i]?.port}"`,
    ]),
  ]);
  writeFileSync(`${folder}/greeting.vcl`, config);
  const options = ["-s", "malloc,64m", "-p", "http_gzip_support=off"];
  // The jail's user can't read the test's folder.
  return [
    "varnishd",
    "-j",
    "none",
    "-F",
    "-n",
    folder,
    "-a",
    `127.0.0.1:${ports.plain}`,
    "-f",
    `${folder}/greeting.vcl`,
    ...options,
  ];
}

const PROXIES = {
  nginx: { prepare: prepareNginx, version: "-v" },
  HAProxy: { prepare: prepareHaproxy, version: "-v" },
  Varnish: { prepare: prepareVarnish, version: "-V" },
};

export type ProxyName = keyof typeof PROXIES;
export const PROXY_NAMES = Object.keys(PROXIES) as ProxyName[];

export const toUpstream = ({ url, opsUrl }: { url: string; opsUrl: string }) => ({
  port: new URL(url).port,
  opsPort: new URL(opsUrl).port,
});

/** Starts a proxy in front of three servers. Resolves when it forwards requests. */
export async function startProxy(name: ProxyName, upstreams: Upstream[]) {
  const folder = mkdtempSync(join(tmpdir(), "proxy-"));
  const ports = { plain: await findFreePort(), tls: await findFreePort() };
  const certificate = ["-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"];
  const files = ["-keyout", `${folder}/key.pem`, "-out", `${folder}/cert.pem`];
  execFileSync("openssl", ["req", ...certificate, ...files], { stdio: "ignore" });
  const [cert, key] = ["cert", "key"].map((file) => readFileSync(`${folder}/${file}.pem`, "utf8"));
  writeFileSync(`${folder}/both.pem`, `${cert}${key}`);
  const { prepare, version } = PROXIES[name];
  const [file = "", ...args] = prepare({ folder, upstreams, ports });
  if (spawnSync(file, [version], { env: ENV }).error) throw new Error(`This test needs ${name}: apt-get install it`);
  const proxy = spawn(file, args, { env: ENV, stdio: "ignore" });
  const exited = once(proxy, "exit");
  const stop = async () => {
    proxy.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true });
  };
  const hasTls = name !== "Varnish";
  const origin = hasTls ? `https://127.0.0.1:${ports.tls}` : `http://127.0.0.1:${ports.plain}`;
  const send = async (path: string, options: RequestOptions = {}, body = "") => {
    const request = hasTls ? requestHttps : requestHttp;
    const sent = request(origin + path, { ca: cert, checkServerIdentity: () => undefined, ...options }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
  };
  const isReady = async () => (await send("/").catch(() => undefined))?.status === 200;
  while (!(await isReady())) {
    if (proxy.exitCode !== null) throw new Error(`${name} exited with ${proxy.exitCode}`);
    await setTimeout(100);
  }
  return { origin, plainUrl: `http://127.0.0.1:${ports.plain}`, cert, send, stop };
}

export type RunningProxy = Awaited<ReturnType<typeof startProxy>>;
