import os from "node:os";
import { expect, test, vi } from "vitest";
import { exposeSpies } from "../../test/support/expose-spies.ts";
import { createLimits } from "./limits.ts";

const MIB = 1024 * 1024;

test.each([
  ["256 MiB have twice the limits of 128 MiB", 256, 2048],
  ["128 MiB", 128, 1024],
  ["below, only the memory beyond Node's own counts", 65, 256],
  ["without memory beyond it, the limits are a sixteenth", 40, 64],
])("%s", (_label, memoryMiB, maxConnections) => {
  expect(createLimits({}, memoryMiB * MIB, 100_000).MAX_CONNECTIONS).toBe(maxConnections);
});

test.each([
  ["of a container", 128, 4096, 1024],
  ["of the machine, if no container limits it", 0, 256, 2048],
  ["of the machine, if a container may have more", 2 ** 43, 256, 2048],
  ["of the machine, at most 2 GiB", 0, 4096, 16 * 1024],
])("the memory is that %s", (_label, constrainedMiB, totalMiB, maxConnections) => {
  vi.spyOn(process, "constrainedMemory").mockReturnValue(constrainedMiB * MIB);
  vi.spyOn(os, "totalmem").mockReturnValue(totalMiB * MIB);
  exposeSpies();
  expect(createLimits({}, undefined, 100_000).MAX_CONNECTIONS).toBe(maxConnections);
});

test("a limit that the operator sets is kept", () => {
  expect(createLimits({ MAX_ENCODERS: 3 }, 40 * MIB, 100_000)).toMatchObject({ MAX_ENCODERS: 3, MAX_CONNECTIONS: 64 });
});

test.each([
  ["connections leave open files for streams and services", {}, 1000, 1000 - 256 - 128],
  ["so do as many as the operator sets", { MAX_CONNECTIONS: 1000 }, 1000, 1000 - 256 - 128],
  ["connections get at least half of the open files", {}, 100, 50],
])("%s", (_label, settings, maxOpenFiles, maxConnections) => {
  expect(createLimits(settings, 128 * MIB, maxOpenFiles).MAX_CONNECTIONS).toBe(maxConnections);
});
