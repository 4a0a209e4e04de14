// The cache channel of docs/caching.md, with a real Redis.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRedisCache } from "react-router-express-server/redis";
import { findFreePort } from "react-router-express-server/testing";
import { expect, onTestFinished, test } from "vitest";
import { startCutProxy } from "./support/cut-proxy.ts";
import { startRedis } from "./support/redis.ts";

test("messages reach every process, also after a restart of Redis", async () => {
  const port = await findFreePort();
  const start = () => spawn("redis-server", ["--port", String(port), "--save", ""], { stdio: "ignore" });
  let redis = start();
  onTestFinished(() => void redis.kill("SIGKILL"));
  const [one, other] = [
    createRedisCache({ url: `redis://127.0.0.1:${port}` }),
    createRedisCache({ url: `redis://127.0.0.1:${port}` }),
  ];
  const messages: string[] = [];
  const connections: boolean[] = [];
  other.subscribe(
    (message) => messages.push(message),
    (isConnected) => isConnected !== connections.at(-1) && connections.push(isConnected),
  );
  const publish = (message: string) =>
    expect
      .poll(() =>
        one.publish(message).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);

  await expect.poll(() => connections.at(-1)).toBe(true);
  await publish("first");
  await expect.poll(() => messages).toEqual(["first"]);
  redis.kill("SIGTERM");
  await once(redis, "exit");
  await expect.poll(() => connections.at(-1)).toBe(false);
  await expect(one.publish("lost")).rejects.toThrow();
  redis = start();
  await expect.poll(() => connections.at(-1)).toBe(true);
  await publish("second");
  await expect.poll(() => messages).toEqual(["first", "second"]);
});

test("while Redis can't write its disk, messages wait, and the channel stays connected", async () => {
  const folder = mkdtempSync(join(tmpdir(), "redis-"));
  const redis = await startRedis(undefined, ["--dir", folder, "--save", "1 1"]);
  onTestFinished(() => redis.kill());
  const channel = createRedisCache({ url: redis.url });
  const messages: string[] = [];
  const connections: boolean[] = [];
  channel.subscribe(
    (message) => messages.push(message),
    (isConnected) => connections.push(isConnected),
  );
  await expect.poll(() => connections).toEqual([true]);
  // Redis can't replace a folder by its file.
  mkdirSync(join(folder, "dump.rdb", "occupied"), { recursive: true });
  const write = () => redis.send("SET", "a", "b").catch(String);
  await expect.poll(write).toContain("MISCONF");
  await expect.poll(() => redis.send("INFO", "commandstats")).toMatch(/cmdstat_ping:.*rejected_calls=[1-9]/);
  await expect(channel.publish("waiting")).rejects.toThrow("MISCONF");
  rmSync(join(folder, "dump.rdb"), { recursive: true });
  const publish = () => channel.publish("late").catch(String);
  await expect.poll(publish).toBeUndefined();
  await expect.poll(() => messages).toEqual(["late"]);
  expect(connections).toEqual([true]);
  rmSync(folder, { recursive: true });
});

test("a connection that is lost without a reset is detected, for messages too, and made again", async () => {
  const port = await findFreePort();
  const redis = spawn("redis-server", ["--port", String(port), "--save", ""], { stdio: "ignore" });
  const proxy = await startCutProxy(port);
  onTestFinished(() => {
    redis.kill("SIGKILL");
    proxy.stop();
  });
  const channel = createRedisCache({ url: `redis://${proxy.host}` });
  const messages: string[] = [];
  let isConnected = false;
  channel.subscribe(
    (message) => messages.push(message),
    (connected) => {
      isConnected = connected;
    },
  );
  await expect.poll(() => isConnected).toBe(true);
  await channel.publish("first");
  await expect.poll(() => messages).toEqual(["first"]);
  proxy.cut();
  let failures = 0;
  const publishing = setInterval(() => channel.publish("lost").catch(() => (failures += 1)), 200);
  onTestFinished(() => clearInterval(publishing));
  await expect.poll(() => failures).toBeGreaterThan(0);
  await expect.poll(() => isConnected).toBe(false);
  clearInterval(publishing);
  proxy.restore();
  await expect.poll(() => isConnected).toBe(true);
  await channel.publish("second");
  await expect.poll(() => messages).toEqual(["first", "second"]);
});

test("a connection that is lost while it subscribes is made again", async () => {
  const port = await findFreePort();
  const redis = spawn("redis-server", ["--port", String(port), "--save", ""], { stdio: "ignore" });
  let lost = 0;
  const proxy = createServer((socket) => {
    const upstream = connect(port, "127.0.0.1");
    upstream.on("error", () => {}).on("close", () => socket.destroy());
    upstream.pipe(socket);
    socket.on("error", () => {}).on("close", () => upstream.destroy());
    socket.on("data", (data) => {
      if (lost > 0 || !data.includes("subscribe")) return upstream.write(data);
      lost += 1;
      socket.destroy();
    });
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    redis.kill("SIGKILL");
    proxy.close();
  });
  const channel = createRedisCache({ url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  const messages: string[] = [];
  let isConnected = false;
  channel.subscribe(
    (message) => messages.push(message),
    (connected) => {
      isConnected = connected;
    },
  );
  await expect.poll(() => isConnected).toBe(true);
  expect(lost).toBe(1);
  await channel.publish("first");
  await expect.poll(() => messages).toEqual(["first"]);
});
