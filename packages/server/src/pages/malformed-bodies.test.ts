import { expect, test } from "vitest";
import { rejectMalformedBodies } from "./malformed-bodies.ts";

test.each([
  ["application/json", "{", 400],
  ["multipart/form-data; boundary=b", "{}", 415],
])("request.json() of the %s body %j rejects with status %d", async (type, body, status) => {
  const request = new Request("http://localhost", { method: "POST", headers: { "Content-Type": type }, body });
  await rejectMalformedBodies({ request } as never, async () => new Response());
  await expect(request.json()).rejects.toMatchObject({ init: { status } });
});
